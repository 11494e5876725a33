package domain

import (
	"errors"
	"time"
)

// AuditEntry records one change. It holds no personal data of employees: the
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

	// The labels are read, never written: of the employee or administrator that
	// the entry is about, as they are now.
	EmployeeLabel string
	RecordLabel   string
}

// ErasedEmployeeID stands in an audit entry for an employee who was erased. The
// entry is then removed when its time is over, unlike those of people who are still
// known, which are their history.
const ErasedEmployeeID = -1

// Labels shown in place of people who were erased.
const (
	ErasedEmployee      = "Erased employee"
	FormerAdministrator = "Former administrator"
)

// AuditFilter narrows the log; zero fields do not.
type AuditFilter struct {
	Action string // the beginning of an action, such as token. or token.created
	Actor  ActorKind
	From   *time.Time
	To     *time.Time // exclusive
	Search string     // an externalId, a record's or request's id, an e-mail address or a token's name
}

// Check reports every field that is wrong.
func (f AuditFilter) Check() error {
	var c Checks
	switch f.Actor {
	case "", ActorPerson, ActorToken, ActorOperator, ActorPlatform, ActorSystem:
	default:
		c.Add("actor", errors.New("must be person, token, operator, platform or system"))
	}
	if f.From != nil && f.To != nil && !f.From.Before(*f.To) {
		c.Add("to", errors.New("must be later than from"))
	}
	return c.Err()
}
