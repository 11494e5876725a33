package publicapi

import (
	"context"
	"errors"
	"net/url"
	"strconv"

	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// provisionEmployee creates or links an employee.
func (h *handler) provisionEmployee(ctx context.Context, r *request) (v1.Provisioned, error) {
	in, err := provisionInput(r)
	if err != nil {
		return v1.Provisioned{}, err
	}
	e, status, err := h.svc.Provision(ctx, callerOf(r), in)
	if err != nil {
		return v1.Provisioned{}, err
	}
	return v1.Provisioned{ID: e.ID, ExternalID: e.ExternalID, Email: e.Email, Status: v1.ProvisionStatus(status)}, nil
}

func provisionInput(r *request) (in domain.Provision, err error) {
	o, err := r.Object()
	if err != nil {
		return in, err
	}
	in = domain.Provision{ExternalID: o.String("externalId"), Email: o.String("email"), Name: o.String("name")}
	return in, o.ErrWith(func() error { p := in; return p.Normalize() })
}

// listEmployees returns one page of the company's employees.
func (h *handler) listEmployees(ctx context.Context, r *request) (v1.EmployeeList, error) {
	p := r.Params()
	paging := p.Walk(domain.EmployeeList)
	filter := domain.EmployeeFilter{ExternalID: p.ExternalID("externalId"), Email: p.Email("email"), Tag: p.Tag("tag")}
	if err := p.Err(); err != nil {
		return v1.EmployeeList{}, err
	}
	found, err := h.svc.Employees(ctx, callerOf(r), filter, paging.PageRequest)
	if err != nil {
		return v1.EmployeeList{}, err
	}
	out := v1.EmployeeList{Items: make([]v1.Employee, len(found.Items)), Pagination: paging.Pagination(found.Total)}
	for i := range found.Items {
		out.Items[i] = employee(&found.Items[i])
	}
	if n := len(found.Items); found.More && n > 0 {
		filters := url.Values{}
		setFilter(filters, "externalId", filter.ExternalID)
		setFilter(filters, "email", filter.Email)
		setFilter(filters, "tag", filter.Tag)
		link := paging.Next(h.base+"/employees", filters, domain.Cursor{ID: found.Items[n-1].ID})
		r.Info.ResponseHeader.Set("Link", link)
	}
	return out, nil
}

// getEmployee returns one employee with all assignments.
func (h *handler) getEmployee(ctx context.Context, r *request) (v1.EmployeeWithAssignments, error) {
	externalID, err := r.PathExternalID("externalId")
	if err != nil {
		return v1.EmployeeWithAssignments{}, err
	}
	e, assignments, err := h.svc.Employee(ctx, callerOf(r), externalID)
	if errors.Is(err, domain.ErrLargeEmployee) {
		return h.largeEmployee(ctx, r, externalID)
	}
	if err != nil {
		return v1.EmployeeWithAssignments{}, err
	}
	return v1.EmployeeWithAssignments{
		Employee: employee(&e), Assignments: assignmentItems(assignments, h.svc.Now()),
	}, nil
}

// largeEmployee encodes the assignments while they are read: as text they take a
// fraction of the memory. The text keeps its place until the client has read it.
func (h *handler) largeEmployee(ctx context.Context, r *request, externalID string) (v1.EmployeeWithAssignments, error) {
	out := v1.EmployeeWithAssignments{Encoded: &v1.EncodedAssignments{}}
	place, err := h.large.Enter(ctx, strconv.FormatInt(r.Info.CompanyID, 10), r.Abort)
	if err != nil {
		return out, err
	}
	r.AfterAnswer(place.Leave)
	now := h.svc.Now()
	err = h.svc.EmployeePages(ctx, callerOf(r), externalID, func(e domain.Employee, page []domain.Assignment) error {
		out.Employee = employee(&e)
		out.Encoded.Append(assignmentItems(page, now))
		return nil
	})
	return out, err
}

// updateEmployee changes, offboards or brings back an employee.
func (h *handler) updateEmployee(ctx context.Context, r *request) (v1.EmployeeUpdated, error) {
	externalID, err := r.PathExternalID("externalId")
	if err != nil {
		return v1.EmployeeUpdated{}, err
	}
	patch, err := employeePatch(r)
	if err != nil {
		return v1.EmployeeUpdated{}, err
	}
	done, err := h.svc.PatchEmployee(ctx, callerOf(r), externalID, patch)
	if err != nil {
		return v1.EmployeeUpdated{}, err
	}
	if done.Offboarded {
		return v1.EmployeeUpdated{Offboarded: &v1.Offboarded{ExternalID: externalID, Status: "offboarded"}}, nil
	}
	shown := employee(&done.Employee)
	return v1.EmployeeUpdated{Employee: &shown}, nil
}

func employeePatch(r *request) (patch domain.EmployeePatch, err error) {
	o, err := r.OptionalObject()
	if err != nil {
		return patch, err
	}
	patch = domain.EmployeePatch{
		Name: o.OptString("name"), Tags: o.OptStrings("tags", domain.MaxTags), Email: o.OptString("email"), Active: o.OptBool("active"),
	}
	return patch, o.ErrWith(func() error { p := patch; return p.Normalize() })
}

// deleteEmployee removes an employee and all personal data.
func (h *handler) deleteEmployee(ctx context.Context, r *request) (v1.Deleted, error) {
	externalID, err := r.PathExternalID("externalId")
	if err != nil {
		return v1.Deleted{}, err
	}
	if err := h.svc.DeleteEmployee(ctx, callerOf(r), externalID); err != nil {
		return v1.Deleted{}, err
	}
	return v1.Deleted{ExternalID: externalID, Status: "deleted"}, nil
}

func employee(e *domain.Employee) v1.Employee {
	tags := e.Tags
	if tags == nil {
		tags = []string{}
	}
	return v1.Employee{
		ID: e.ID, ExternalID: e.ExternalID, Email: e.Email, Name: e.Name, Role: v1.Role(e.Role), Tags: tags,
		JoinedAt: dateTime(e.JoinedAt),
	}
}
