package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"
)

const checkTimeout = 2 * time.Second

// Check is a condition for serving requests. Run must respect its context; a
// check that does not answer in time counts as failed.
type Check struct {
	Name string
	Run  func(ctx context.Context) error
}

// healthz reports that the process is alive. It checks nothing else: restarting
// the program would not bring a lost database back.
func healthz(w http.ResponseWriter, r *http.Request) {
	if allowRead(w, r, "/healthz") {
		writeHealth(w, http.StatusOK, health{Status: "ok"})
	}
}

// readiness reports whether requests can be served now.
type readiness struct {
	checks   []Check
	notes    func() []string
	log      *slog.Logger
	stopping atomic.Bool
}

type health struct {
	Status string            `json:"status"`
	Checks map[string]string `json:"checks,omitempty"`
	Notes  []string          `json:"notes,omitempty"`
}

func (z *readiness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !allowRead(w, r, "/readyz") {
		return
	}
	out := z.run(r.Context())
	if r.URL.Query().Has("verbose") && z.notes != nil {
		out.Notes = z.notes()
	}
	status := http.StatusOK
	if out.Status != statusReady {
		status = http.StatusServiceUnavailable
	}
	writeHealth(w, status, out)
}

const (
	statusReady       = "ready"
	statusUnavailable = "unavailable"
	statusStopping    = "stopping"
)

// run makes all checks at the same time.
func (z *readiness) run(ctx context.Context) health {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	results := make([]chan error, len(z.checks))
	for i, c := range z.checks {
		results[i] = make(chan error, 1)
		go func() { results[i] <- runCheck(ctx, c) }()
	}
	out := health{Status: statusReady, Checks: map[string]string{}}
	for i, c := range z.checks {
		var err error
		select {
		case err = <-results[i]:
		case <-ctx.Done():
			err = fmt.Errorf("no answer within %s", checkTimeout)
		}
		out.Checks[c.Name] = "ok"
		if err != nil {
			out.Status, out.Checks[c.Name] = statusUnavailable, "failing"
			// The cause may name hosts and users, so it goes to the log only.
			z.log.Warn("a readiness check failed", "check", c.Name, "error", err.Error())
		}
	}
	if z.stopping.Load() {
		out.Status = statusStopping
	}
	return out
}

func runCheck(ctx context.Context, c Check) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return c.Run(ctx)
}

func writeHealth(w http.ResponseWriter, status int, body health) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // net/http drops the body of a HEAD
}
