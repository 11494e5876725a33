package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	v1 "github.com/coursebridge/coursebridge/api/v1"
)

// EmployeeFilter selects employees; empty fields select all.
type EmployeeFilter struct {
	ExternalID, Email, Tag string
}

// Employees returns all employees that match, in the order of their ids. The
// pages are fetched while the caller iterates.
func (c *Client) Employees(ctx context.Context, f EmployeeFilter) iter.Seq2[v1.Employee, error] {
	query := url.Values{"limit": {pageSize}}
	set(query, "externalId", f.ExternalID)
	set(query, "email", f.Email)
	set(query, "tag", f.Tag)
	return walk(ctx, c, request{path: []string{"employees"}, query: query}, func(l v1.EmployeeList) []v1.Employee { return l.Items })
}

// Employee returns an employee with all assignments.
func (c *Client) Employee(ctx context.Context, externalID string) (v1.EmployeeWithAssignments, error) {
	return call[v1.EmployeeWithAssignments](ctx, c, request{path: []string{"employees", externalID}})
}

// Provision creates an employee. If an employee has the address already, they get
// the external id.
func (c *Client) Provision(ctx context.Context, in v1.ProvisionInput) (v1.Provisioned, error) {
	return call[v1.Provisioned](ctx, c, request{method: http.MethodPost, path: []string{"employees", "provision"}, body: in})
}

// UpdateEmployee changes an employee. Setting Active to false offboards the employee;
// setting it to true reinstates them.
func (c *Client) UpdateEmployee(ctx context.Context, externalID string, change v1.EmployeeUpdate) (v1.EmployeeUpdated, error) {
	return call[v1.EmployeeUpdated](ctx, c, request{method: http.MethodPatch, path: []string{"employees", externalID}, body: change})
}

// DeleteEmployee erases an employee. Results stay without the person.
func (c *Client) DeleteEmployee(ctx context.Context, externalID string) error {
	return c.discard(ctx, request{method: http.MethodDelete, path: []string{"employees", externalID}})
}
