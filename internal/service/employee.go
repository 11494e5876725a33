package service

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Provision finds, links or creates an employee by the caller's own id. Codes:
// invalid_request, external_id_taken, email_taken.
func (l *Learning) Provision(ctx context.Context, c domain.Caller, in domain.Provision) (domain.Employee, domain.ProvisionStatus, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Employee{}, "", err
	}
	if err := in.Normalize(); err != nil {
		return domain.Employee{}, "", err
	}
	return l.store.Provision(ctx, c, in)
}

// Join makes an employee that no system has linked yet. Codes: invalid_request, email_taken.
func (l *Learning) Join(ctx context.Context, c domain.Caller, n domain.Newcomer) (domain.Employee, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Employee{}, err
	}
	if err := n.Normalize(); err != nil {
		return domain.Employee{}, err
	}
	return l.store.Join(ctx, c, n)
}

// firstRecord asks for as little of a list as has its total.
var firstRecord = domain.PageRequest{Number: 1, Limit: 1}

// Employees lists the company's employees. Codes: invalid_request for a page that
// skips too many.
func (l *Learning) Employees(ctx context.Context, c domain.Caller, f domain.EmployeeFilter, p domain.PageRequest) (domain.Page[domain.Employee], error) {
	if p.Offset() > domain.MaxOffset {
		first, err := l.store.Employees(ctx, c.Company.ID, f, firstRecord)
		if err != nil {
			return first, err
		}
		return domain.Page[domain.Employee]{Total: first.Total}, p.CheckDepth(first.Total)
	}
	return l.store.Employees(ctx, c.Company.ID, f, p)
}

// Employee returns one employee with all assignments, or domain.ErrLargeEmployee if there
// are too many to read them in one go. Codes: employee_not_found, employee_offboarded.
func (l *Learning) Employee(ctx context.Context, c domain.Caller, externalID string) (domain.Employee, []domain.Assignment, error) {
	return l.store.Employee(ctx, c.Company.ID, externalID)
}

// EmployeePages calls each with all assignments of one employee, a page at a time; the
// slice is reused. Codes: employee_not_found, employee_offboarded.
func (l *Learning) EmployeePages(ctx context.Context, c domain.Caller, externalID string, each func(domain.Employee, []domain.Assignment) error) error {
	return l.store.EmployeePages(ctx, c.Company.ID, externalID, each)
}

// PatchEmployee changes, offboards or brings back an employee. Codes:
// invalid_request, employee_not_found, employee_offboarded, email_taken.
func (l *Learning) PatchEmployee(ctx context.Context, c domain.Caller, externalID string, p domain.EmployeePatch) (domain.EmployeePatched, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.EmployeePatched{}, err
	}
	if err := p.Normalize(); err != nil {
		return domain.EmployeePatched{}, err
	}
	return l.store.PatchEmployee(ctx, c, externalID, p)
}

// DeleteEmployee erases an employee. Codes: employee_not_found.
func (l *Learning) DeleteEmployee(ctx context.Context, c domain.Caller, externalID string) error {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return err
	}
	return l.store.DeleteEmployee(ctx, c, externalID)
}
