package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

const checkTimeout = 2 * time.Second

// Check is something that must work before requests make sense. Run must heed
// its context; one that does not counts as failed and is left behind.
type Check struct {
	Name string
	Run  func(ctx context.Context) error
}

// healthz tells that the process lives. It asks nothing of anyone: a database
// that is down is no reason to restart the program.
func healthz(w http.ResponseWriter, r *http.Request) {
	if probe(w, r, "/healthz") {
		answer(w, http.StatusOK, health{Status: "ok"})
	}
}

// readyz tells whether requests can be served now.
type readyz struct {
	checks []Check
	log    *slog.Logger
}

type health struct {
	Status string            `json:"status"`
	Checks map[string]string `json:"checks,omitempty"`
}

func (z readyz) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !probe(w, r, "/readyz") {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), checkTimeout)
	defer cancel()
	results := make([]chan error, len(z.checks))
	for i, c := range z.checks {
		results[i] = make(chan error, 1)
		go func() { results[i] <- z.run(ctx, c) }()
	}
	status, out := http.StatusOK, health{Status: "ready", Checks: map[string]string{}}
	for i, c := range z.checks {
		var err error
		select {
		case err = <-results[i]:
		case <-ctx.Done():
			err = fmt.Errorf("no answer within %s", checkTimeout)
		}
		out.Checks[c.Name] = "ok"
		if err != nil {
			status, out.Status, out.Checks[c.Name] = http.StatusServiceUnavailable, "unavailable", "failing"
			// The cause may name hosts and users: it is for the log, not for whoever asks.
			z.log.Warn("readiness check failed", "check", c.Name, "error", err.Error())
		}
	}
	answer(w, status, out)
}

func (z readyz) run(ctx context.Context, c Check) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return c.Run(ctx)
}

func answer(w http.ResponseWriter, status int, body health) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // net/http drops the body of a HEAD
}
