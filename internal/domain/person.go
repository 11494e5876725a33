package domain

import (
	"encoding/json"
	"time"
)

// Person is everything that is stored about one e-mail address in all companies.
// It is what a person who asks for their data receives.
type Person struct {
	Email         string               `json:"email"`
	Employments   []Employment         `json:"employments"`
	Administrator *PersonAdministrator `json:"administrator"`
	Log           []PersonLogEntry     `json:"log"` // actions of the person as an administrator, and actions on their employee records
}

// Employment is the record of a person as an employee of one company. LeftAt is nil
// while the person works there.
type Employment struct {
	CompanyID   int64              `json:"companyId"`
	ID          int64              `json:"id"`
	ExternalID  string             `json:"externalId"`
	Email       string             `json:"email"`
	Name        string             `json:"name"`
	Role        Role               `json:"role"`
	Tags        []string           `json:"tags"`
	JoinedAt    time.Time          `json:"joinedAt"`
	LeftAt      *time.Time         `json:"leftAt"`
	Assignments []PersonAssignment `json:"assignments"`
	Events      []PersonEvent      `json:"events"`
}

// PersonAssignment is an assignment of a person. RevokedAt is nil unless it was
// revoked.
type PersonAssignment struct {
	ID          int64      `json:"id"`
	ExternalID  string     `json:"externalId"`
	CourseName  string     `json:"courseName"`
	Status      Status     `json:"status"`
	Score       *float64   `json:"score"`
	Attempts    int        `json:"attempts"`
	AssignedAt  time.Time  `json:"assignedAt"`
	StartedAt   *time.Time `json:"startedAt"`
	CompletedAt *time.Time `json:"completedAt"`
	RevokedAt   *time.Time `json:"revokedAt"`
}

// PersonEvent is an event about a person. Body is what webhooks receive.
type PersonEvent struct {
	Kind       EventKind       `json:"event"`
	OccurredAt time.Time       `json:"occurredAt"`
	Body       json.RawMessage `json:"body"`
}

// PersonAdministrator is the account of a person who is an administrator, without
// its secrets.
type PersonAdministrator struct {
	ID           int64           `json:"id"`
	Name         string          `json:"name"`
	CreatedAt    time.Time       `json:"createdAt"`
	LastSignInAt *time.Time      `json:"lastSignInAt"`
	SecondFactor bool            `json:"secondFactor"` // whether one is set up
	CompanyIDs   []int64         `json:"companyIds"`
	Sessions     []PersonSession `json:"sessions"`
}

// PersonSession is a browser in which the person is signed in.
type PersonSession struct {
	CreatedAt time.Time `json:"createdAt"`
	SeenAt    time.Time `json:"seenAt"`
	Address   string    `json:"address"` // the IP address
	UserAgent string    `json:"userAgent"`
}

// PersonLogEntry is an entry of a company's audit log that concerns the person.
type PersonLogEntry struct {
	CompanyID int64     `json:"companyId"`
	At        time.Time `json:"at"`
	Action    string    `json:"action"`
	Address   string    `json:"address"` // the IP address that the action came from
	Detail    string    `json:"detail"`
}

// ErrPersonNotFound reports that nothing is stored about an e-mail address.
var ErrPersonNotFound = Errorf(CodeNotFound, "Nothing is stored about this e-mail address.")
