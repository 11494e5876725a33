package service

import (
	"context"
	"errors"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Courses lists what the company may assign, slices included. The list is
// shared: callers must not change it.
func (l *Learning) Courses(ctx context.Context, c domain.Caller) ([]domain.Course, error) {
	if version, ok := l.watcher.Version(domain.CacheCourses); ok {
		if list, ok := l.courses.get(c.Company.ID, version); ok {
			return list, nil
		}
	}
	began := l.watcher.Now()
	list, version, err := l.store.Courses(ctx, c.Company.ID)
	if err == nil && l.watcher.ConfirmRead(domain.CacheCourses, version, began) {
		l.courses.put(c.Company.ID, cachedCourses{list: list, version: version, readAt: began})
	}
	return list, err
}

// AddCourse makes a course of the company's own. Codes: invalid_request,
// external_id_taken, company_not_found.
func (l *Learning) AddCourse(ctx context.Context, c domain.Caller, course domain.Course) (int64, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return 0, err
	}
	if err := course.Check(); err != nil {
		return 0, err
	}
	return l.store.AddCourse(ctx, c, course)
}

// ArchiveCourse takes a course of the company's own out of what can be assigned.
// What was assigned stays. Codes: course_not_found, wrong_company.
func (l *Learning) ArchiveCourse(ctx context.Context, c domain.Caller, id int64) error {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return err
	}
	return l.store.ArchiveCourse(ctx, c, id)
}

// CutSlice makes a course from some modules of another one, named by their
// positions from 1. Codes: invalid_request, course_not_found, wrong_company.
func (l *Learning) CutSlice(ctx context.Context, c domain.Caller, parent int64, name string, modules []int) (int64, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return 0, err
	}
	whole, err := l.store.Course(ctx, c.Company.ID, parent)
	if err != nil {
		return 0, err
	}
	slice := domain.Course{
		ParentID: parent, Name: name, IsAssessment: whole.IsAssessment,
		PassMark: whole.PassMark, AllowedAttempts: whole.AllowedAttempts,
	}
	var checks domain.Checks
	if len(modules) == 0 {
		checks.Add("modules", errors.New("must name at least one module"))
	}
	for _, position := range modules {
		if position < 1 || position > len(whole.Modules) {
			checks.Add("modules", errors.New("must be positions of the course's modules, counted from 1"))
			break
		}
		slice.Modules = append(slice.Modules, whole.Modules[position-1])
	}
	if err := checks.Err(); err != nil {
		return 0, err
	}
	return l.AddCourse(ctx, c, slice)
}

// PutCourse makes or updates a course of the platform. Codes: invalid_request.
func (l *Learning) PutCourse(ctx context.Context, by domain.Actor, course domain.Course) (int64, string, error) {
	if err := course.Check(); err != nil {
		return 0, "", err
	}
	return l.store.PutCourse(ctx, by, course)
}

// GrantCourse allows a company to assign a course of the platform. Codes:
// course_not_found, company_not_found.
func (l *Learning) GrantCourse(ctx context.Context, by domain.Actor, externalID string, company int64) (int64, error) {
	return l.store.GrantCourse(ctx, by, externalID, company, true)
}

// WithdrawCourse ends a grant; what was assigned stays. Codes: course_not_found,
// company_not_found.
func (l *Learning) WithdrawCourse(ctx context.Context, by domain.Actor, externalID string, company int64) (int64, error) {
	return l.store.GrantCourse(ctx, by, externalID, company, false)
}
