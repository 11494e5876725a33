package publicapi

import (
	"context"

	v1 "github.com/coursebridge/coursebridge/api/v1"
)

// getProgress returns the status of an assignment and how much of it is done.
func (h *handler) getProgress(ctx context.Context, r *request) (v1.Progress, error) {
	a, err := h.findAssignment(ctx, r)
	if err != nil {
		return v1.Progress{}, err
	}
	now := h.svc.Now()
	return v1.Progress{
		ID: a.ID, CompletionPercent: a.Percent.Float(), LastActivityAt: dateTime(a.LastActivity()),
		Status: v1.AssignmentStatus(a.Status), StatusCategory: v1.StatusCategory(a.Category(now)), IsOverdue: a.Overdue(now),
	}, nil
}

// getResults returns the outcome of the latest attempt that has ended. Its
// completedAt is the end of that attempt, passed or not; before any attempt has
// ended, completedAt and the scores are null.
func (h *handler) getResults(ctx context.Context, r *request) (v1.Results, error) {
	a, err := h.findAssignment(ctx, r)
	if err != nil {
		return v1.Results{}, err
	}
	score := nullablePoints(a.Score)
	return v1.Results{
		ID: a.ID, Score: score, NumberOfAttempts: a.Attempts,
		Status: v1.AssignmentStatus(a.Status), StatusCategory: v1.StatusCategory(a.Category(h.svc.Now())),
		CompletedAt: nullableDateTime(a.EndedAt),
		ResultSummary: v1.ResultSummary{
			CompletionState: v1.CompletionState(a.Completion()), IsPassed: a.Passed(), FinalScore: score, Summary: a.Summary(),
		},
	}, nil
}
