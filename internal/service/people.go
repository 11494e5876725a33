package service

import (
	"context"
	"errors"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// PeopleStore is what the cabinet's pages about employees need of the database.
type PeopleStore interface {
	EmployeeOverviews(ctx context.Context, company int64, f domain.EmployeeListFilter, p domain.PageRequest) (domain.EmployeePage, error)
	EmployeeRecord(ctx context.Context, company, id int64) (domain.EmployeeRecord, error)
	ErasureEffects(ctx context.Context, company, id int64) (domain.ErasureEffects, error)
	PatchEmployeeByID(ctx context.Context, c domain.Caller, id int64, p domain.EmployeePatch) (domain.EmployeePatched, error)
	DeleteEmployeeByID(ctx context.Context, c domain.Caller, id int64) error
	PlanOffboarding(ctx context.Context, c domain.Caller, id int64, at *time.Time) error
	OffboardDue(ctx context.Context, limit int) (int, error)
}

// EmployeeOverviews lists employees with what they have to do. Codes: invalid_request.
func (l *Learning) EmployeeOverviews(ctx context.Context, c domain.Caller, f domain.EmployeeListFilter, p domain.PageRequest) (domain.EmployeePage, error) {
	if err := f.Check(); err != nil {
		return domain.EmployeePage{}, err
	}
	return l.store.EmployeeOverviews(ctx, c.Company.ID, f, p)
}

// EmployeeRecord returns one employee, live or former, with assignments and history.
// Codes: employee_not_found.
func (l *Learning) EmployeeRecord(ctx context.Context, c domain.Caller, id int64) (domain.EmployeeRecord, error) {
	return l.store.EmployeeRecord(ctx, c.Company.ID, id)
}

// ErasureEffects counts what DeleteEmployeeByID would remove.
func (l *Learning) ErasureEffects(ctx context.Context, c domain.Caller, id int64) (domain.ErasureEffects, error) {
	return l.store.ErasureEffects(ctx, c.Company.ID, id)
}

// PatchEmployeeByID changes, offboards or brings back an employee, as PatchEmployee
// does, by the employee's id. Codes: invalid_request, employee_not_found,
// employee_offboarded, email_taken, external_id_taken.
func (l *Learning) PatchEmployeeByID(ctx context.Context, c domain.Caller, id int64, p domain.EmployeePatch) (domain.EmployeePatched, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.EmployeePatched{}, err
	}
	if err := p.Normalize(); err != nil {
		return domain.EmployeePatched{}, err
	}
	return l.store.PatchEmployeeByID(ctx, c, id, p)
}

// DeleteEmployeeByID erases an employee by id. Codes: employee_not_found.
func (l *Learning) DeleteEmployeeByID(ctx context.Context, c domain.Caller, id int64) error {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return err
	}
	return l.store.DeleteEmployeeByID(ctx, c, id)
}

// PlanOffboarding sets when an employee is offboarded, or cancels that if at is nil.
// Codes: invalid_request, employee_not_found, employee_offboarded.
func (l *Learning) PlanOffboarding(ctx context.Context, c domain.Caller, id int64, at *time.Time) error {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return err
	}
	if at != nil && !at.After(l.store.Now()) {
		var checks domain.Checks
		checks.Add("date", errors.New("choose a date in the future, or offboard the person now"))
		return checks.Err()
	}
	return l.store.PlanOffboarding(ctx, c, id, at)
}

// sweepOffboardings carries out planned offboardings whose time has come, batch by
// batch until none is left. Any number of replicas may run it.
func (l *Learning) sweepOffboardings(ctx context.Context) error {
	for {
		n, err := l.store.OffboardDue(ctx, sweepBatch)
		if err != nil || n < sweepBatch {
			return err
		}
	}
}
