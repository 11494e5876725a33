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
	id, err := a.learning.CutSlice(ctx, c, course, domain.SliceInput{Name: name, Modules: modules})
	return CourseAdded{CourseID: id}, err
}

// CourseArchived is a course that can't be assigned any more.
type CourseArchived struct {
	CourseID int64  `json:"courseId"`
	State    string `json:"state"` // always "archived"
}

func (c CourseArchived) String() string {
	return fmt.Sprintf("Course %d can't be assigned any more. What was assigned stays.", c.CourseID)
}

// ArchiveCourse takes a course of a company's own out of what can be assigned.
func (a *App) ArchiveCourse(ctx context.Context, company, course int64) (CourseArchived, error) {
	c, err := a.caller(ctx, company)
	if err != nil {
		return CourseArchived{}, err
	}
	return CourseArchived{CourseID: course, State: "archived"}, a.learning.ArchiveCourse(ctx, c, course)
}
