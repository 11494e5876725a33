package domain

import (
	"encoding/json"
	"time"
)

// Person is everything that is stored about one e-mail address in all companies.
// Somebody who asks for their data receives it.
type Person struct {
	Email         string               `json:"email"`
	Account       *PersonAccount       `json:"account"`
	Employments   []Employment         `json:"employments"`
	Administrator *PersonAdministrator `json:"administrator"`
	Log           []PersonLogEntry     `json:"log"`      // actions of the person as an administrator, and actions on their employee records
	Mentions      []PersonMention      `json:"mentions"` // texts that administrators wrote and that contain the address
}

// PersonAccount is the account of an address on the learning platform.
type PersonAccount struct {
	CreatedAt time.Time `json:"createdAt"`
}

// PersonMention is a text that an administrator wrote, such as the name of a token,
// and that contains the address of the person.
type PersonMention struct {
	CompanyID int64  `json:"companyId"`
	Where     string `json:"where"` // table and column
	ID        int64  `json:"id"`
	Text      string `json:"text"`
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
	Attributes  Attributes         `json:"attributes"`
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
	Attempts   []PersonAttempt `json:"attempts"` // where the event was sent
}

// PersonAttempt is one attempt to send an event about a person to a webhook.
type PersonAttempt struct {
	DeliveryID   string    `json:"deliveryId"`
	Number       int       `json:"number"`
	URL          string    `json:"url"`
	StartedAt    time.Time `json:"startedAt"`
	StatusCode   int       `json:"statusCode"` // 0 if there was no response
	ResponseBody string    `json:"responseBody"`
}

// PersonAdministrator describes the person's administrator account, without its
// secrets.
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

// ErasedAddress replaces the address of an erased person in texts that
// administrators wrote.
const ErasedAddress = "(erased address)"

// ErrPersonNotFound reports that nothing is stored about an e-mail address.
var ErrPersonNotFound = Errorf(CodeNotFound, "Nothing is stored about this e-mail address. Check its spelling.")
