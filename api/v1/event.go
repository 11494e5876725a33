package v1

// EventKind describes what happened.
type EventKind string

// Values returns every kind that the contract names.
func (EventKind) Values() []string {
	return []string{
		"assignment.created", "assignment.completed", "assignment.failed", "assignment.overdue",
		"employee.joined", "employee.removed",
	}
}

// Event is the body of a webhook request. Data is an Employee for
// employee.joined, an EmployeeRemoved for employee.removed, and an Assignment
// for every other kind.
type Event[T Employee | EmployeeRemoved | Assignment] struct {
	Event      EventKind `json:"event"`
	CompanyID  int64     `json:"companyId"`
	OccurredAt DateTime  `json:"occurredAt"`
	Data       T         `json:"data"`
}

// EmployeeRemoved describes who left the company, and why.
type EmployeeRemoved struct {
	ID         int64         `json:"id"`
	ExternalID string        `json:"externalId"`
	Reason     RemovalReason `json:"reason"`
}

// RemovalReason explains why an employee left.
type RemovalReason string

// Values returns every reason that the contract names.
func (RemovalReason) Values() []string { return []string{"offboarded", "deleted"} }
