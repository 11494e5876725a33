package contract_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// record notes what the suite has seen of one engine.
type record struct {
	mu       sync.Mutex
	statuses map[string]map[int]bool
	codes    map[string]bool
}

func newRecord() *record {
	return &record{statuses: map[string]map[int]bool{}, codes: map[string]bool{}}
}

func (r *record) note(op *operation, a *answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if code := a.code(); code != "" {
		r.codes[code] = true
	}
	if op == nil {
		return
	}
	if r.statuses[op.id] == nil {
		r.statuses[op.id] = map[int]bool{}
	}
	r.statuses[op.id][a.status] = true
}

// unseen are statuses that no request here can bring about on every engine.
var unseen = map[int]string{
	http.StatusInternalServerError: "it is a fault of ours, and the suite fails where it meets one",
	http.StatusServiceUnavailable:  "it takes a database that goes away; the outage of PostgreSQL has a test of its own",
}

// unseenCodes are codes that no request of this suite can bring about.
var unseenCodes = map[string]string{
	"internal":         "as the status 500",
	"unavailable":      "as the status 503",
	"too_many_reports": "it takes reports that run for long, which have tests of their own",
}

// missing lists what the contract declares and no request has met.
func (r *record) missing(d *document) (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, op := range d.operations {
		for status := range op.answers {
			if unseen[status] == "" && !r.statuses[op.id][status] {
				out = append(out, fmt.Sprintf("%s was never answered with %d", op.id, status))
			}
		}
	}
	codes, _ := dig(d.root, "components", "schemas", "ErrorCode", "enum").([]any)
	for _, code := range codes {
		if name := code.(string); unseenCodes[name] == "" && !r.codes[name] {
			out = append(out, "no error had the code "+name)
		}
	}
	slices.SortFunc(out, strings.Compare)
	return out
}
