package domain

import (
	"encoding/json"
	"time"
)

// Person is all that is kept about one address, over all companies.
type Person struct {
	Email         string               `json:"email"`
	Employments   []Employment         `json:"employments"`
	Administrator *PersonAdministrator `json:"administrator"`
	Log           []PersonLogEntry     `json:"log"` // what they did as an administrator, and what was done about them
}

// Employment is a person in one company, present or former.
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

// PersonAssignment is an assignment of a person, revoked ones too.
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

// PersonEvent is an event about a person, as receivers got it.
type PersonEvent struct {
	Kind       EventKind       `json:"event"`
	OccurredAt time.Time       `json:"occurredAt"`
	Body       json.RawMessage `json:"body"`
}

// PersonAdministrator is a person as an administrator. No secret is part of it.
type PersonAdministrator struct {
	ID           int64           `json:"id"`
	Name         string          `json:"name"`
	CreatedAt    time.Time       `json:"createdAt"`
	LastSignInAt *time.Time      `json:"lastSignInAt"`
	SecondFactor bool            `json:"secondFactor"`
	CompanyIDs   []int64         `json:"companyIds"`
	Sessions     []PersonSession `json:"sessions"`
}

// PersonSession is a browser that the person is signed in with.
type PersonSession struct {
	CreatedAt time.Time `json:"createdAt"`
	SeenAt    time.Time `json:"seenAt"`
	Address   string    `json:"address"`
	UserAgent string    `json:"userAgent"`
}

// PersonLogEntry is an entry of a company's audit log.
type PersonLogEntry struct {
	CompanyID int64     `json:"companyId"`
	At        time.Time `json:"at"`
	Action    string    `json:"action"`
	Address   string    `json:"address"`
	Detail    string    `json:"detail"`
}

// ErrPersonNotFound reports that nothing is kept about an address.
var ErrPersonNotFound = Errorf(CodeNotFound, "Nothing is kept about this address.")
