package platformapi

import (
	"context"
	"fmt"

	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// maxActivities is the most items that one request may have.
const maxActivities = 1000

// reportActivities takes what learners did; each item stands alone.
func (h *handler) reportActivities(ctx context.Context, r *request) (v1.ActivityResults, error) {
	items, err := activityItems(r)
	if err != nil {
		return v1.ActivityResults{}, err
	}
	results, err := h.svc.RecordActivities(ctx, r.Caller, items)
	if err != nil {
		return v1.ActivityResults{}, err
	}
	if len(results) != len(items) {
		return v1.ActivityResults{}, fmt.Errorf("report of %d activities got %d results", len(items), len(results))
	}
	out := make([]v1.ActivityResult, len(results))
	for i, result := range results {
		out[i] = activityResult(r.Info, i, result)
	}
	return v1.ActivityResults{Results: out}, nil
}

// activityItems reads the items one by one, so that a bad one does not affect the others.
func activityItems(r *request) ([]domain.ActivityItem, error) {
	body, err := r.Object()
	if err != nil {
		return nil, err
	}
	raws := body.Items("items", maxActivities)
	if err := body.Err(); err != nil {
		return nil, err
	}
	items := make([]domain.ActivityItem, len(raws))
	for i, raw := range raws {
		o, err := raw.Object()
		if err == nil {
			items[i].Activity, err = activity(o)
		}
		items[i].Err = err
	}
	return items, nil
}

func activity(o *httpapi.Object) (domain.Activity, error) {
	a := domain.Activity{
		ID:           o.String("id"),
		AssignmentID: o.Int("assignmentId"),
		Type:         domain.ActivityType(o.String("type")),
		Percent:      o.OptPoints("completionPercent"),
		Score:        o.OptPoints("score"),
	}
	if at := o.OptInstant("occurredAt"); at != nil {
		a.OccurredAt = *at
	}
	// The service decides whether it lies in the future, by the database's clock.
	return a, o.ErrWith(func() error { return a.Check(a.OccurredAt) })
}

func activityResult(info *httpapi.Info, index int, r domain.ActivityResult) v1.ActivityResult {
	if r.Err == nil {
		return v1.ActivityResult{Index: index, OK: true, Status: v1.AssignmentStatus(r.Status)}
	}
	problem := httpapi.DescribeItem(info, r.Err)
	return v1.ActivityResult{Index: index, Code: problem.Code, Message: problem.Message}
}
