package publicapi

import (
	"context"

	v1 "github.com/coursebridge/coursebridge/api/v1"
)

// listCourses returns every course that the company can assign.
func (h *handler) listCourses(ctx context.Context, r *request) (v1.CourseList, error) {
	courses, err := h.svc.Courses(ctx, callerOf(r))
	if err != nil {
		return v1.CourseList{}, err
	}
	items := make([]v1.Course, len(courses))
	for i := range courses {
		c := &courses[i]
		items[i] = v1.Course{ID: c.ID, Name: c.Name, IsAssessment: c.IsAssessment}
		if c.ExternalID != "" {
			items[i].ExternalID = &c.ExternalID
		}
	}
	return v1.CourseList{Items: items}, nil
}
