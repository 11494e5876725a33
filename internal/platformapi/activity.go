package platformapi

import (
	"context"
	"fmt"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/platformapi/oas"
)

const maxActivities = 1000

// ReportActivities takes what learners did; each item stands alone.
func (h *handler) ReportActivities(ctx context.Context, req oas.ReportActivitiesReq) (*oas.ActivitiesResponse, error) {
	items, err := activitiesOf(ctx, req)
	if err != nil {
		return nil, err
	}
	results, err := h.svc.RecordActivities(ctx, actorFrom(ctx), items)
	if err != nil {
		return nil, err
	}
	if len(results) != len(items) {
		return nil, fmt.Errorf("report of %d activities got %d results", len(items), len(results))
	}
	out := make([]oas.ActivityResult, len(results))
	for i, r := range results {
		out[i] = activityResult(ctx, i, r)
	}
	return &oas.ActivitiesResponse{Data: oas.ActivityResults{Results: out}}, nil
}

// activitiesOf reads the items one by one, so that a bad one harms no other.
func activitiesOf(ctx context.Context, req oas.ReportActivitiesReq) ([]domain.ActivityItem, error) {
	body, err := httpapi.ReadObject(ctx, req.Data)
	if err != nil {
		return nil, err
	}
	raws := body.Items("items", maxActivities)
	if err := body.Err(nil); err != nil {
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
	// Whether it lies in the future is the service's to say, whose clock it is.
	return a, o.Err(func() error { return a.Check(a.OccurredAt) })
}

func activityResult(ctx context.Context, index int, r domain.ActivityResult) oas.ActivityResult {
	if r.Err == nil {
		return oas.NewActivityDoneActivityResult(oas.ActivityDone{Index: index, Status: oas.AssignmentStatus(r.Status)})
	}
	code, message := httpapi.DescribeItem(httpapi.InfoFrom(ctx), r.Err)
	return oas.NewActivityFailedActivityResult(oas.ActivityFailed{Index: index, Code: oas.ErrorCode(code), Message: message})
}
