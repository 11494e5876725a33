package faults

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// truth is what the API shows once all work has ended.
type truth struct {
	employees   map[int64]record
	assignments map[int64]record
}

func (c company) truth(ctx context.Context, base string) (truth, error) {
	out := truth{map[int64]record{}, map[int64]record{}}
	for path, into := range map[string]map[int64]record{"employees": out.employees, "assignments": out.assignments} {
		all, err := c.fetchAll(ctx, base+"/api/v1/"+path+"?limit=500")
		if err != nil {
			return out, err
		}
		for _, r := range all.items {
			into[r.id()] = r
		}
	}
	return out, nil
}

// checkSync compares a sync mirror with the truth. Every live assignment must be
// in the mirror exactly as the API shows it. Other assignments in the mirror must
// be revoked, which updatedSince does not report.
func (c company) checkSync(ctx context.Context, base string, m *syncMirror, want truth) error {
	var wrong []string
	for id, a := range want.assignments {
		if diff := cmp.Diff(a, m.assignments[id]); diff != "" {
			wrong = append(wrong, fmt.Sprintf("assignment %d (-truth +mirror):\n%s", id, diff))
		}
	}
	return c.report(ctx, base, wrong, extra(m.assignments, want.assignments))
}

// extra returns the records of a mirror that are not part of the truth.
func extra(mirror, truth map[int64]record) map[int64]record {
	out := map[int64]record{}
	for id, r := range mirror {
		if truth[id] == nil {
			out[id] = r
		}
	}
	return out
}

// report returns an error with what is wrong, and with the extra assignments that
// were not revoked.
func (c company) report(ctx context.Context, base string, wrong []string, extra map[int64]record) error {
	for id := range extra {
		got, err := c.send(ctx, http.MethodGet, base+"/api/v1/assignments/"+formatID(id), nil)
		if err != nil {
			return err
		}
		if got.status != http.StatusNotFound {
			wrong = append(wrong, fmt.Sprintf("assignment %d is not in the list, but answers %d", id, got.status))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%d differences, the first ones: %s", len(wrong), strings.Join(wrong[:min(len(wrong), 5)], "\n"))
}
