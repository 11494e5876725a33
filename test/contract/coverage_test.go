package contract_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/coursebridge/coursebridge/internal/apicheck"
)

// coverage collects the statuses and codes that the suite has met on one engine.
type coverage struct {
	mu       sync.Mutex
	statuses map[string]map[int]bool
	codes    map[string]bool
}

func newCoverage() *coverage {
	return &coverage{statuses: map[string]map[int]bool{}, codes: map[string]bool{}}
}

func (r *coverage) add(op *apicheck.Operation, a *answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if code := a.code(); code != "" {
		r.codes[code] = true
	}
	if op == nil {
		return
	}
	if r.statuses[op.ID] == nil {
		r.statuses[op.ID] = map[int]bool{}
	}
	r.statuses[op.ID][a.status] = true
}

// uncoveredStatuses are statuses that the suite cannot cause on every engine, with the reason.
var uncoveredStatuses = map[int]string{
	http.StatusMethodNotAllowed:    "it is answered where a path has no operation of that method; wrongMethods asks for it",
	http.StatusInternalServerError: "it is a fault of ours, and the suite fails where it meets one",
	http.StatusServiceUnavailable:  "it takes a database that goes away; the outage of PostgreSQL has a test of its own",
}

// uncoveredCodes are codes that the suite cannot cause, with the reason.
var uncoveredCodes = map[string]string{
	"internal":         "as the status 500",
	"unavailable":      "as the status 503",
	"too_many_reports": "it takes reports that run for long, which have tests of their own",
}

// gaps returns what the contract declares and no request has met.
func (r *coverage) gaps(d *apicheck.Document) (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, op := range d.Operations {
		for _, status := range op.Statuses() {
			if uncoveredStatuses[status] == "" && !r.statuses[op.ID][status] {
				out = append(out, fmt.Sprintf("%s was never answered with %d", op.ID, status))
			}
		}
	}
	codes := d.ErrorCodes()
	for _, name := range codes {
		if uncoveredCodes[name] == "" && !r.codes[name] {
			out = append(out, "no error had the code "+name)
		}
	}
	slices.SortFunc(out, strings.Compare)
	return out
}
