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

// createAssignments assigns many courses; each item stands alone.
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
		return v1.BulkResults{}, fmt.Errorf("bulk of %d items got %d results", len(items), len(results))
	}
	out := make([]v1.BulkResult, len(results))
	for i := range results {
		out[i] = bulkResult(r.Info, i, &results[i])
	}
	return v1.BulkResults{Results: out}, nil
}

// bulkItems reads the items one by one, so that a bad one does not affect the others.
func bulkItems(r *request) ([]domain.BulkItem, error) {
	body, err := r.Object()
	if err != nil {
		return nil, err
	}
	raws := body.Items("items", maxBulkItems)
	if err := body.Err(nil); err != nil {
		return nil, err
	}
	items := make([]domain.BulkItem, len(raws))
	for i, raw := range raws {
		o, err := raw.Object()
		if err == nil {
			items[i].New, err = newAssignment(o)
		}
		items[i].Err = err
	}
	return items, nil
}

func bulkResult(info *httpapi.Info, index int, r *domain.BulkResult) v1.BulkResult {
	if r.Err == nil {
		return v1.BulkResult{Index: index, OK: true, AssignmentID: r.Assignment.ID, Status: string(r.Assignment.Status)}
	}
	code, message := httpapi.DescribeItem(info, r.Err)
	return v1.BulkResult{Index: index, Status: "error", Code: v1.ErrorCode(code), Message: message}
}
