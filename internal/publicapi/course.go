package publicapi

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/publicapi/oas"
)

// ListCourses gives everything that the company can assign.
func (h *handler) ListCourses(ctx context.Context) (*oas.CourseListResponse, error) {
	courses, err := h.svc.Courses(ctx, callerFrom(ctx))
	if err != nil {
		return nil, err
	}
	items := make([]oas.Course, len(courses))
	for i, c := range courses {
		items[i] = oas.Course{
			ID: c.ID, Name: c.Name, IsAssessment: c.IsAssessment,
			ExternalID: oas.NilString{Value: c.ExternalID, Null: c.ExternalID == ""},
		}
	}
	return &oas.CourseListResponse{Data: oas.CourseList{Items: items}}, nil
}
