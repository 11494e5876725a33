package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	v1 "github.com/coursebridge/coursebridge/api/v1"
)

// AssignmentFilter selects assignments; zero fields select all.
type AssignmentFilter struct {
	EmployeeExternalID string
	Status             string // a status or a category, as the contract lists them
	CourseID           int64
	UpdatedSince       time.Time
}

func (f AssignmentFilter) query() url.Values {
	query := url.Values{"limit": {pageSize}}
	set(query, "employeeExternalId", f.EmployeeExternalID)
	set(query, "status", f.Status)
	if f.CourseID != 0 {
		query.Set("courseId", strconv.FormatInt(f.CourseID, 10))
	}
	if !f.UpdatedSince.IsZero() {
		query.Set("updatedSince", f.UpdatedSince.UTC().Format(time.RFC3339Nano))
	}
	return query
}

// Assignments returns all assignments that match. The pages are fetched while the caller
// iterates.
func (c *Client) Assignments(ctx context.Context, f AssignmentFilter) iter.Seq2[v1.Assignment, error] {
	return walk(ctx, c, request{path: []string{"assignments"}, query: f.query()}, func(l v1.AssignmentList) []v1.Assignment { return l.Items })
}

// Assignment returns an assignment by the id that coursebridge gave it.
func (c *Client) Assignment(ctx context.Context, id int64) (v1.Assignment, error) {
	return call[v1.Assignment](ctx, c, request{path: []string{"assignments", strconv.FormatInt(id, 10)}})
}

// AssignmentByExternalID returns an assignment by the caller's own id.
func (c *Client) AssignmentByExternalID(ctx context.Context, externalID string) (v1.Assignment, error) {
	return call[v1.Assignment](ctx, c, request{path: []string{"assignments", "by-external-id", externalID}})
}

// Progress returns how far an assignment has come.
func (c *Client) Progress(ctx context.Context, id int64) (v1.Progress, error) {
	return call[v1.Progress](ctx, c, request{path: []string{"assignments", strconv.FormatInt(id, 10), "progress"}})
}

// Results returns the outcome of the latest ended attempt of an assignment.
func (c *Client) Results(ctx context.Context, id int64) (v1.Results, error) {
	return call[v1.Results](ctx, c, request{path: []string{"assignments", strconv.FormatInt(id, 10), "results"}})
}

// ProgressByExternalID is Progress by the caller's own id.
func (c *Client) ProgressByExternalID(ctx context.Context, externalID string) (v1.Progress, error) {
	return call[v1.Progress](ctx, c, request{path: []string{"assignments", "by-external-id", externalID, "progress"}})
}

// ResultsByExternalID is Results by the caller's own id.
func (c *Client) ResultsByExternalID(ctx context.Context, externalID string) (v1.Results, error) {
	return call[v1.Results](ctx, c, request{path: []string{"assignments", "by-external-id", externalID, "results"}})
}

// Assign creates an assignment, or returns the one that has the external id already.
func (c *Client) Assign(ctx context.Context, in v1.AssignmentInput) (v1.AssignmentCreated, error) {
	return call[v1.AssignmentCreated](ctx, c, request{method: http.MethodPost, path: []string{"assignments"}, body: in})
}

// bulkSize is the most items that the server accepts in one bulk request.
const bulkSize = 500

// AssignMany creates any number of assignments, 500 in a request. It returns one
// result per item, in the order of the items: an item that fails has OK false and
// does not affect the others. After an error it returns the results of the requests
// before it; calling it again with the same items is safe.
func (c *Client) AssignMany(ctx context.Context, items []v1.AssignmentInput) ([]v1.BulkResult, error) {
	var out []v1.BulkResult
	for part := range slices.Chunk(items, bulkSize) {
		answer, err := call[v1.BulkResults](ctx, c, request{
			method: http.MethodPost, path: []string{"assignments", "bulk"}, body: v1.BulkInput{Items: part},
		})
		if err != nil {
			return out, err
		}
		first := len(out)
		for _, r := range answer.Results {
			r.Index += first
			out = append(out, r)
		}
	}
	return out, nil
}

// Revoke takes an assignment back.
func (c *Client) Revoke(ctx context.Context, id int64) error {
	return c.discard(ctx, request{method: http.MethodDelete, path: []string{"assignments", strconv.FormatInt(id, 10)}})
}
