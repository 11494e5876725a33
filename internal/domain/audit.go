package domain

import "time"

// AuditEntry tells of one change. It holds no personal data of employees: the
// employee is named by the service's own id, and shown by joining the live record.
type AuditEntry struct {
	CompanyID  int64
	ID         int64
	At         time.Time
	Actor      Actor
	Action     string // noun.verb, such as token.created
	RecordKind string
	RecordID   string
	EmployeeID int64
	Detail     string // a short sentence, free of personal data
}
