// Package service holds the use cases, one file per noun: it validates, asks
// the store for one transaction and keeps the work that no request waits for.
// It declares the small interfaces it calls; HTTP, pages and SQL are elsewhere.
//
// "Codes:" in a comment lists the values of domain.Code that a caller of the
// function should expect in its errors.
package service

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Store is what the learning side needs of the database: employees, courses,
// assignments and what learners do.
type Store interface {
	EmployeeStore
	PeopleStore
	CourseStore
	AssignmentStore
	AssignmentActStore
	AssigningStore
	PeopleActStore
	HomeStore
	Now() time.Time
}

// Learning is the use cases around employees, courses and assignments.
type Learning struct {
	store   Store
	watcher *Watcher
	courses courseCache
}

// NewLearning returns the use cases on a store. Cached courses are used while the
// watcher confirms their version.
func NewLearning(store Store, watcher *Watcher) *Learning {
	return &Learning{store: store, watcher: watcher, courses: courseCache{lists: map[int64]cachedCourses{}}}
}

// Run does the work that no request waits for, until ctx ends.
func (l *Learning) Run(ctx context.Context, log *slog.Logger) {
	var wg sync.WaitGroup
	wg.Go(func() { Periodic{Name: "overdue sweep", Every: sweepInterval, Log: log, Do: l.sweepOverdue}.Run(ctx) })
	wg.Go(func() {
		Periodic{Name: "planned offboardings", Every: sweepInterval, Log: log, Do: l.sweepOffboardings}.Run(ctx)
	})
	wg.Wait()
}

// Now is the database's clock: what is overdue is judged by it.
func (l *Learning) Now() time.Time { return l.store.Now() }

// EmployeeStore keeps employees.
type EmployeeStore interface {
	Provision(ctx context.Context, c domain.Caller, in domain.Provision) (domain.Employee, domain.ProvisionStatus, error)
	Join(ctx context.Context, c domain.Caller, n domain.Newcomer) (domain.Employee, error)
	Employees(ctx context.Context, company int64, f domain.EmployeeFilter, p domain.PageRequest) (domain.Page[domain.Employee], error)
	Employee(ctx context.Context, company int64, externalID string) (domain.Employee, []domain.Assignment, error)
	EmployeePages(ctx context.Context, company int64, externalID string, each func(domain.Employee, []domain.Assignment) error) error
	PatchEmployee(ctx context.Context, c domain.Caller, externalID string, p domain.EmployeePatch) (domain.EmployeePatched, error)
	DeleteEmployee(ctx context.Context, c domain.Caller, externalID string) error
}

// CourseStore keeps courses.
type CourseStore interface {
	// Courses returns the courses of a company and the version they were read at.
	Courses(ctx context.Context, company int64) (courses []domain.Course, version int64, err error)
	Course(ctx context.Context, company, id int64) (domain.Course, error)
	AddCourse(ctx context.Context, c domain.Caller, course domain.Course) (int64, error)
	ArchiveCourse(ctx context.Context, c domain.Caller, id int64) error
	RestoreCourse(ctx context.Context, c domain.Caller, id int64) error
	EditSlice(ctx context.Context, c domain.Caller, slice domain.Course) error
	CourseOverviews(ctx context.Context, company int64) ([]domain.CourseOverview, error)
	DaysToComplete(ctx context.Context, company, course int64) (map[int]int64, error)
	PutCourse(ctx context.Context, by domain.Actor, course domain.Course) (id int64, status string, err error)
	GrantCourse(ctx context.Context, by domain.Actor, externalID string, company int64, granted bool) (int64, error)
}

// AssignmentStore keeps assignments and applies activities.
type AssignmentStore interface {
	Assign(ctx context.Context, c domain.Caller, items []domain.BulkItem) ([]domain.BulkResult, error)
	Assignments(ctx context.Context, company int64, f domain.AssignmentFilter, p domain.PageRequest) (domain.AssignmentPage, error)
	Assignment(ctx context.Context, company, id int64) (domain.Assignment, error)
	AssignmentByExternalID(ctx context.Context, company int64, externalID string) (domain.Assignment, error)
	Revoke(ctx context.Context, c domain.Caller, id int64) error
	RecordActivities(ctx context.Context, items []domain.ActivityItem) ([]domain.ActivityResult, error)
	MarkOverdue(ctx context.Context, limit int) (int, error)
}
