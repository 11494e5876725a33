package v1

import "time"

// DateTime is an instant. It is encoded in UTC with a numeric offset and at
// most milliseconds, such as 2026-11-14T09:30:00+00:00; any RFC 3339 date-time
// can be decoded into it.
type DateTime struct{ time.Time }

// AppendJSON appends the date-time as a JSON string.
func (t DateTime) AppendJSON(b []byte) []byte {
	b = append(b, '"')
	b = t.UTC().Truncate(time.Millisecond).AppendFormat(b, time.RFC3339Nano)
	return append(b[:len(b)-len("Z")], `+00:00"`...)
}

// MarshalJSON returns the date-time as a JSON string.
func (t DateTime) MarshalJSON() ([]byte, error) {
	return t.AppendJSON(make([]byte, 0, 32)), nil
}

// AssignmentStatus describes where an assignment stands.
type AssignmentStatus string

// Values returns every status that the contract names.
func (AssignmentStatus) Values() []string {
	return []string{"assigned", "started", "completed", "failed", "needs_retry"}
}

// StatusCategory is the coarse state of an assignment, deadline included.
type StatusCategory string

// Values returns every category that the contract names.
func (StatusCategory) Values() []string {
	return []string{"not_started", "in_progress", "completed", "overdue"}
}

// CompletionState is the outcome of the latest ended attempt.
type CompletionState string

// Values returns every state that the contract names.
func (CompletionState) Values() []string {
	return []string{"not_started", "in_progress", "success", "failure"}
}

// Role is the role of an employee.
type Role string

// Values returns every role that the contract names.
func (Role) Values() []string { return []string{"employee", "manager", "admin"} }

// Scope is what a token grants.
type Scope string

// Values returns every scope that the contract names.
func (Scope) Values() []string {
	return []string{"b2b_api", "b2b_read", "b2b_provision", "b2b_assignment"}
}

// ProvisionStatus describes how provisioning found or made the employee.
type ProvisionStatus string

// Values returns every status that the contract names.
func (ProvisionStatus) Values() []string { return []string{"created", "linked", "found"} }

// Pagination describes where a page stands in the whole list.
type Pagination struct {
	Page  int64 `json:"page"`
	Limit int   `json:"limit"`
	Total int64 `json:"total"`
	Pages int64 `json:"pages"`
}

// Success is the envelope of every successful answer.
type Success[T any] struct {
	Result string `json:"result"` // always "success"
	Data   T      `json:"data"`
}
