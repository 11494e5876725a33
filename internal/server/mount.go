package server

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// Mount serves a path prefix with a handler. The path is matched as it was sent,
// not cleaned: identifiers in it may contain slashes and dots. Prefix "/x"
// matches /x and everything below it; "/" matches the root only.
type Mount struct {
	Prefix  string
	Handler http.Handler
	// API marks a JSON interface for programs: its answers are never cached, and a
	// client that has closed its sending side still waits for them.
	API bool
	// MaxBody is the largest request body in bytes; 0 means 1 MiB.
	MaxBody int64
	// Quiet requests are logged at debug level: probes come every few seconds.
	Quiet bool
	// Served is called after each answer to a caller with a token; may be nil. It
	// must not wait.
	Served func(Served)
}

// Served is a request that was answered.
type Served struct {
	Info     *httpapi.Info // as the adapters left it; not to be kept
	Method   string
	Status   int
	Duration time.Duration
}

// mux finds the mount of a path. There are only a handful, so it scans them.
type mux []Mount

var unmatched = Mount{Handler: http.HandlerFunc(httpapi.NotFound), API: true, MaxBody: httpapi.MaxBody}

func newMux(mounts []Mount) (mux, error) {
	out := make(mux, 0, len(mounts))
	seen := map[string]bool{}
	for _, m := range mounts {
		if !strings.HasPrefix(m.Prefix, "/") || m.Handler == nil {
			return nil, fmt.Errorf("mount %q: a path that begins with a slash and a handler are required", m.Prefix)
		}
		m.Prefix = strings.TrimSuffix(m.Prefix, "/")
		if seen[m.Prefix] {
			return nil, fmt.Errorf("mount %q: mounted twice", m.Prefix)
		}
		seen[m.Prefix] = true
		if m.MaxBody == 0 {
			m.MaxBody = httpapi.MaxBody
		}
		out = append(out, m)
	}
	return out, nil
}

// find returns the mount with the longest matching prefix.
func (x mux) find(path string) *Mount {
	found := &unmatched
	for i := range x {
		m := &x[i]
		if m.matches(path) && len(m.Prefix) >= len(found.Prefix) {
			found = m
		}
	}
	return found
}

func (m *Mount) matches(path string) bool {
	if m.Prefix == "" {
		return path == "/" || path == ""
	}
	rest, ok := strings.CutPrefix(path, m.Prefix)
	return ok && (rest == "" || rest[0] == '/')
}
