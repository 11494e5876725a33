package server

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// Mount puts a handler below a path. The path is matched as it was sent, before
// anything could clean it: an identifier in it may hold slashes and dots. Prefix
// "/x" takes /x and everything below it; "/" takes the root alone.
type Mount struct {
	Prefix  string
	Handler http.Handler
	// API marks a JSON interface for programs: its answers are not for browsers,
	// and a client that has closed its sending side is still waiting for them.
	API bool
	// MaxBody is the most bytes of a request body; 0 means 1 MiB.
	MaxBody int64
	// Quiet requests are logged at debug level only: probes come every few seconds.
	Quiet bool
}

// mux finds the mount of a path. There are a handful, so it looks through them.
type mux []Mount

var nowhere = Mount{Handler: http.HandlerFunc(httpapi.NotFound), API: true, MaxBody: httpapi.MaxBody}

func newMux(mounts []Mount) (mux, error) {
	out := make(mux, 0, len(mounts))
	seen := map[string]bool{}
	for _, m := range mounts {
		if !strings.HasPrefix(m.Prefix, "/") || m.Handler == nil {
			return nil, fmt.Errorf("mount %q: want a path that begins with a slash, and a handler", m.Prefix)
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

// find gives the mount with the longest prefix of the path.
func (x mux) find(path string) *Mount {
	found := &nowhere
	for i := range x {
		m := &x[i]
		if m.takes(path) && len(m.Prefix) >= len(found.Prefix) {
			found = m
		}
	}
	return found
}

func (m *Mount) takes(path string) bool {
	if m.Prefix == "" {
		return path == "/" || path == ""
	}
	rest, ok := strings.CutPrefix(path, m.Prefix)
	return ok && (rest == "" || rest[0] == '/')
}
