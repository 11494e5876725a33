package publicapi

import (
	"context"
	"net/url"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/publicapi/oas"
)

// ProvisionEmployee creates or links an employee.
func (h *handler) ProvisionEmployee(ctx context.Context, req oas.ProvisionEmployeeReq) (*oas.ProvisionResponse, error) {
	in, err := provisionOf(ctx, req)
	if err != nil {
		return nil, err
	}
	e, status, err := h.svc.Provision(ctx, callerFrom(ctx), in)
	if err != nil {
		return nil, err
	}
	return &oas.ProvisionResponse{Data: oas.Provisioned{
		ID: e.ID, ExternalID: e.ExternalID, Email: e.Email, Status: oas.ProvisionedStatus(status),
	}}, nil
}

func provisionOf(ctx context.Context, req oas.ProvisionEmployeeReq) (in domain.Provision, err error) {
	o, err := httpapi.ReadObject(ctx, req.Data)
	if err != nil {
		return in, err
	}
	in = domain.Provision{ExternalID: o.String("externalId"), Email: o.String("email"), Name: o.String("name")}
	return in, o.Err(func() error { p := in; return p.Check() })
}

// ListEmployees gives one page of the company's employees.
func (h *handler) ListEmployees(ctx context.Context, p oas.ListEmployeesParams) (*oas.EmployeeListResponseHeaders, error) {
	var q httpapi.Query
	paging := q.Walk(httpapi.Employees, p.Page, p.Limit, p.After)
	filter := domain.EmployeeFilter{
		ExternalID: q.Identifier("externalId", p.ExternalID),
		Email:      q.Email("email", p.Email),
		Tag:        q.Tag("tag", p.Tag),
	}
	if err := q.Err(); err != nil {
		return nil, err
	}
	found, err := h.svc.Employees(ctx, callerFrom(ctx), filter, paging.PageRequest)
	if err != nil {
		return nil, err
	}
	out := &oas.EmployeeListResponseHeaders{}
	out.Response.Data = oas.EmployeeList{
		Items:      make([]oas.Employee, len(found.Items)),
		Pagination: pagination(paging, found.Total),
	}
	for i, e := range found.Items {
		out.Response.Data.Items[i] = employee(e)
	}
	if n := len(found.Items); found.More && n > 0 {
		filters := url.Values{}
		keep(filters, "externalId", filter.ExternalID)
		keep(filters, "email", filter.Email)
		keep(filters, "tag", filter.Tag)
		out.Link = oas.NewOptString(paging.Next(prefix+"/employees", filters, domain.Cursor{ID: found.Items[n-1].ID}))
	}
	return out, nil
}

// GetEmployee gives one employee with all assignments.
func (h *handler) GetEmployee(ctx context.Context, p oas.GetEmployeeParams) (*oas.EmployeeWithAssignmentsResponse, error) {
	externalID, err := pathIdentifier(p.ExternalID)
	if err != nil {
		return nil, err
	}
	e, assignments, err := h.svc.Employee(ctx, callerFrom(ctx), externalID)
	if err != nil {
		return nil, err
	}
	shown := employee(e)
	return &oas.EmployeeWithAssignmentsResponse{Data: oas.EmployeeWithAssignments{
		ID: shown.ID, ExternalID: shown.ExternalID, Email: shown.Email, Name: shown.Name, Role: shown.Role,
		Tags: shown.Tags, JoinedAt: shown.JoinedAt,
		Assignments: assignmentList(assignments, h.svc.Now()),
	}}, nil
}

// UpdateEmployee changes, offboards or brings back an employee.
func (h *handler) UpdateEmployee(ctx context.Context, req oas.UpdateEmployeeReq, p oas.UpdateEmployeeParams) (*oas.EmployeeUpdateResponse, error) {
	externalID, err := pathIdentifier(p.ExternalID)
	if err != nil {
		return nil, err
	}
	patch, err := patchOf(ctx, req)
	if err != nil {
		return nil, err
	}
	done, err := h.svc.PatchEmployee(ctx, callerFrom(ctx), externalID, patch)
	if err != nil {
		return nil, err
	}
	if done.Offboarded {
		return &oas.EmployeeUpdateResponse{
			Data: oas.NewOffboardedEmployeeUpdateResponseData(oas.Offboarded{ExternalID: externalID}),
		}, nil
	}
	return &oas.EmployeeUpdateResponse{
		Data: oas.NewEmployeeEmployeeUpdateResponseData(employee(done.Employee)),
	}, nil
}

func patchOf(ctx context.Context, req oas.UpdateEmployeeReq) (patch domain.EmployeePatch, err error) {
	o, err := httpapi.ReadOptionalObject(ctx, req.Data)
	if err != nil {
		return patch, err
	}
	patch = domain.EmployeePatch{
		Name: o.OptString("name"), Tags: o.OptStrings("tags"), Email: o.OptString("email"), Active: o.OptBool("active"),
	}
	return patch, o.Err(func() error { p := patch; return p.Check() })
}

// DeleteEmployee removes an employee and all personal data.
func (h *handler) DeleteEmployee(ctx context.Context, p oas.DeleteEmployeeParams) (*oas.DeleteResponse, error) {
	externalID, err := pathIdentifier(p.ExternalID)
	if err != nil {
		return nil, err
	}
	if err := h.svc.DeleteEmployee(ctx, callerFrom(ctx), externalID); err != nil {
		return nil, err
	}
	return &oas.DeleteResponse{Data: oas.Deleted{ExternalID: externalID}}, nil
}

func employee(e domain.Employee) oas.Employee {
	tags := e.Tags
	if tags == nil {
		tags = []string{}
	}
	return oas.Employee{
		ID: e.ID, ExternalID: e.ExternalID, Email: e.Email, Name: e.Name, Role: oas.Role(e.Role), Tags: tags,
		JoinedAt: domain.FormatInstant(e.JoinedAt),
	}
}
