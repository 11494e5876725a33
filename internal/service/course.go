package service

import (
	"context"

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
	if err := course.Normalize(); err != nil {
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

// RestoreCourse makes an archived course of the company's own assignable again. Codes:
// course_not_found, wrong_company.
func (l *Learning) RestoreCourse(ctx context.Context, c domain.Caller, id int64) error {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return err
	}
	return l.store.RestoreCourse(ctx, c, id)
}

// CutSlice makes a course from some modules of another one, named by their
// positions from 1. Codes: invalid_request, course_not_found, wrong_company,
// external_id_taken.
func (l *Learning) CutSlice(ctx context.Context, c domain.Caller, parent int64, in domain.SliceInput) (int64, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return 0, err
	}
	whole, err := l.store.Course(ctx, c.Company.ID, parent)
	if err != nil {
		return 0, err
	}
	slice, err := in.Cut(whole)
	if err != nil {
		return 0, err
	}
	return l.store.AddCourse(ctx, c, slice)
}

// EditSlice changes the name, the external id and the modules of a slice that nobody
// has. Codes: invalid_request, course_not_found, wrong_company, external_id_taken,
// conflict.
func (l *Learning) EditSlice(ctx context.Context, c domain.Caller, id int64, in domain.SliceInput) error {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return err
	}
	old, err := l.store.Course(ctx, c.Company.ID, id)
	if err != nil {
		return err
	}
	if old.ParentID == 0 {
		return domain.ErrNotASlice
	}
	whole, err := l.store.Course(ctx, c.Company.ID, old.ParentID)
	if err != nil {
		return err
	}
	slice, err := in.Cut(whole)
	if err != nil {
		return err
	}
	slice.ID = id
	return l.store.EditSlice(ctx, c, slice)
}

// Course returns a course of the company with its modules. Codes: course_not_found,
// wrong_company.
func (l *Learning) Course(ctx context.Context, c domain.Caller, id int64) (domain.Course, error) {
	return l.store.Course(ctx, c.Company.ID, id)
}

// CourseOverviews lists the company's courses with their figures.
func (l *Learning) CourseOverviews(ctx context.Context, c domain.Caller, q domain.CourseQuery) ([]domain.CourseOverview, error) {
	all, err := l.store.CourseOverviews(ctx, c.Company.ID)
	return q.Select(all), err
}

// CourseMedianDays returns in how many days half of those who completed the course
// had done so; ok is false if nobody has.
func (l *Learning) CourseMedianDays(ctx context.Context, c domain.Caller, id int64) (days int, ok bool, err error) {
	counts, err := l.store.DaysToComplete(ctx, c.Company.ID, id)
	if err != nil {
		return 0, false, err
	}
	days, ok = domain.MedianDays(counts)
	return days, ok, nil
}

// PutCourse makes or updates a course of the platform. Codes: invalid_request.
func (l *Learning) PutCourse(ctx context.Context, by domain.Actor, course domain.Course) (int64, string, error) {
	if err := course.Normalize(); err != nil {
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
