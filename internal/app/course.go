package app

import (
	"context"
	"fmt"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// CourseInput describes a course to add.
type CourseInput struct {
	Name       string
	ExternalID string
	Assessment bool
	PassMark   float64
	Attempts   int
	Modules    []string
}

// CourseAdded is a new course.
type CourseAdded struct {
	CourseID int64 `json:"courseId"`
}

func (c CourseAdded) String() string { return fmt.Sprintf("Course %d was created.", c.CourseID) }

// AddCourse adds a course to a company.
func (a *App) AddCourse(ctx context.Context, company int64, in CourseInput) (CourseAdded, error) {
	c, err := a.caller(ctx, company)
	if err != nil {
		return CourseAdded{}, err
	}
	var checks domain.Checks
	mark, err := domain.ParsePoints(in.PassMark)
	checks.Add("pass-mark", err)
	if err := checks.Err(); err != nil {
		return CourseAdded{}, err
	}
	id, err := a.learning.AddCourse(ctx, c, domain.Course{
		Name: in.Name, ExternalID: in.ExternalID, IsAssessment: in.Assessment, PassMark: mark,
		AllowedAttempts: in.Attempts, Modules: in.Modules,
	})
	return CourseAdded{CourseID: id}, err
}

// SliceCourse cuts a course from some modules of another one.
func (a *App) SliceCourse(ctx context.Context, company, course int64, name string, modules []int) (CourseAdded, error) {
	c, err := a.caller(ctx, company)
	if err != nil {
		return CourseAdded{}, err
	}
	id, err := a.learning.CutSlice(ctx, c, course, name, modules)
	return CourseAdded{CourseID: id}, err
}
