package publicapi

import (
	"context"
	"fmt"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/publicapi/oas"
)

const maxBulk = 500

// CreateAssignmentsBulk assigns many courses; each item stands alone.
func (h *handler) CreateAssignmentsBulk(ctx context.Context, req oas.CreateAssignmentsBulkReq) (*oas.BulkResponse, error) {
	items, err := bulkOf(ctx, req)
	if err != nil {
		return nil, err
	}
	results, err := h.svc.AssignMany(ctx, callerFrom(ctx), items)
	if err != nil {
		return nil, err
	}
	if len(results) != len(items) {
		return nil, fmt.Errorf("bulk of %d items got %d results", len(items), len(results))
	}
	out := make([]oas.BulkResult, len(results))
	for i, r := range results {
		out[i] = bulkResult(ctx, i, r)
	}
	return &oas.BulkResponse{Data: oas.BulkResults{Results: out}}, nil
}

// bulkOf reads the items one by one, so that a bad one harms no other.
func bulkOf(ctx context.Context, req oas.CreateAssignmentsBulkReq) ([]domain.BulkItem, error) {
	body, err := httpapi.ReadObject(ctx, req.Data)
	if err != nil {
		return nil, err
	}
	raws := body.Items("items", maxBulk)
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

func bulkResult(ctx context.Context, index int, r domain.BulkResult) oas.BulkResult {
	if r.Err == nil {
		return oas.NewBulkDoneBulkResult(oas.BulkDone{
			Index: index, AssignmentID: r.Assignment.ID, Status: oas.AssignmentStatus(r.Assignment.Status),
		})
	}
	code, message := httpapi.DescribeItem(httpapi.InfoFrom(ctx), r.Err)
	return oas.NewBulkFailedBulkResult(oas.BulkFailed{
		Index: index, Status: oas.BulkFailedStatusError, Code: oas.ErrorCode(code), Message: message,
	})
}
