package publicapi

import (
	"context"
	"fmt"

	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// maxBulkItems is the most items that one bulk request may have.
const maxBulkItems = 500

// createAssignments creates many assignments. An item that fails gets an error as
// its result and does not affect the others.
func (h *handler) createAssignments(ctx context.Context, r *request) (v1.BulkResults, error) {
	items, err := bulkItems(r)
	if err != nil {
		return v1.BulkResults{}, err
	}
	results, err := h.svc.AssignMany(ctx, callerOf(r), items)
	if err != nil {
		return v1.BulkResults{}, err
	}
	if len(results) != len(items) {
		return v1.BulkResults{}, fmt.Errorf("service returned %d results for %d bulk items", len(results), len(items))
	}
	out := make([]v1.BulkResult, len(results))
	for i := range results {
		out[i] = bulkResult(r.Info, i, &results[i])
	}
	return v1.BulkResults{Results: out}, nil
}

// bulkItems reads the items of the body. An item that cannot be read carries its
// error and becomes a failed result; only an invalid body fails the whole request.
func bulkItems(r *request) ([]domain.BulkItem, error) {
	body, err := r.Object()
	if err != nil {
		return nil, err
	}
	rawItems := body.Items("items", maxBulkItems)
	if err := body.Err(); err != nil {
		return nil, err
	}
	items := make([]domain.BulkItem, len(rawItems))
	for i, raw := range rawItems {
		item, err := raw.Object()
		if err == nil {
			items[i].New, err = newAssignment(item)
		}
		items[i].Err = err
	}
	return items, nil
}

// bulkResult converts the result of one item. Only the part of an error that
// clients may see is in it; info notes an unexpected error for the log.
func bulkResult(info *httpapi.Info, index int, result *domain.BulkResult) v1.BulkResult {
	if result.Err == nil {
		return v1.BulkResult{Index: index, OK: true, AssignmentID: result.Assignment.ID, Status: string(result.Assignment.Status)}
	}
	problem := httpapi.DescribeItem(info, result.Err)
	return v1.BulkResult{Index: index, Status: "error", Code: problem.Code, Message: problem.Message, Fields: problem.Fields}
}
