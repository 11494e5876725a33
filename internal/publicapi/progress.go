package publicapi

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/publicapi/oas"
)

// GetAssignmentProgress tells how far an assignment has come.
func (h *handler) GetAssignmentProgress(ctx context.Context, p oas.GetAssignmentProgressParams) (*oas.ProgressResponse, error) {
	return answer(h, h.byID, progress)(ctx, p.ID)
}

// GetAssignmentProgressByExternalID does the same by the caller's identifier.
func (h *handler) GetAssignmentProgressByExternalID(ctx context.Context, p oas.GetAssignmentProgressByExternalIDParams) (*oas.ProgressResponse, error) {
	return answer(h, h.byExternalID, progress)(ctx, p.ExternalID)
}

// GetAssignmentResults tells the outcome of the latest ended attempt.
func (h *handler) GetAssignmentResults(ctx context.Context, p oas.GetAssignmentResultsParams) (*oas.ResultsResponse, error) {
	return answer(h, h.byID, results)(ctx, p.ID)
}

// GetAssignmentResultsByExternalID does the same by the caller's identifier.
func (h *handler) GetAssignmentResultsByExternalID(ctx context.Context, p oas.GetAssignmentResultsByExternalIDParams) (*oas.ResultsResponse, error) {
	return answer(h, h.byExternalID, results)(ctx, p.ExternalID)
}

func progress(a domain.Assignment, now time.Time) *oas.ProgressResponse {
	return &oas.ProgressResponse{Data: oas.Progress{
		ID: a.ID, CompletionPercent: a.Percent.Float(), LastActivityAt: domain.FormatInstant(a.LastActivity()),
		Status: oas.AssignmentStatus(a.Status), StatusCategory: oas.StatusCategory(a.Category(now)), IsOverdue: a.Overdue(now),
	}}
}

func results(a domain.Assignment, now time.Time) *oas.ResultsResponse {
	return &oas.ResultsResponse{Data: oas.Results{
		ID: a.ID, Score: nilPoints(a.Score), NumberOfAttempts: a.Attempts,
		Status: oas.AssignmentStatus(a.Status), StatusCategory: oas.StatusCategory(a.Category(now)),
		CompletedAt: nilInstant(a.EndedAt),
		ResultSummary: oas.ResultSummary{
			CompletionState: oas.CompletionState(a.Completion()), IsPassed: a.Passed(),
			FinalScore: nilPoints(a.Score), Summary: a.Summary(),
		},
	}}
}
