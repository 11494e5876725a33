package domain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// EventKind names what happened.
type EventKind string

// The event kinds of the contract, and the one a test sends.
const (
	EventAssignmentCreated   EventKind = "assignment.created"
	EventAssignmentCompleted EventKind = "assignment.completed"
	EventAssignmentFailed    EventKind = "assignment.failed"
	EventAssignmentOverdue   EventKind = "assignment.overdue"
	EventEmployeeJoined      EventKind = "employee.joined"
	EventEmployeeRemoved     EventKind = "employee.removed"
)

// EventKinds lists every kind that an endpoint can subscribe to.
var EventKinds = []EventKind{
	EventAssignmentCreated, EventAssignmentCompleted, EventAssignmentFailed, EventAssignmentOverdue,
	EventEmployeeJoined, EventEmployeeRemoved,
}

// CheckEventKind refuses a kind that does not exist.
func CheckEventKind(k EventKind) error {
	var all []string
	for _, known := range EventKinds {
		if k == known {
			return nil
		}
		all = append(all, string(known))
	}
	return fmt.Errorf("must be one of %s", strings.Join(all, ", "))
}

// Event is something that happened, as it is stored and sent: the body is
// serialised once.
type Event struct {
	CompanyID    int64
	ID           int64
	Kind         EventKind
	OccurredAt   time.Time
	EmployeeID   int64
	AssignmentID int64 // 0 for employee events
	ExternalID   string
	Body         []byte
}

type eventBody struct {
	Event      EventKind `json:"event"`
	CompanyID  int64     `json:"companyId"`
	OccurredAt string    `json:"occurredAt"`
	Data       any       `json:"data"`
}

type employeeData struct {
	ID         int64    `json:"id"`
	ExternalID string   `json:"externalId"`
	Email      string   `json:"email"`
	Name       string   `json:"name"`
	Role       Role     `json:"role"`
	Tags       []string `json:"tags"`
	JoinedAt   string   `json:"joinedAt"`
}

type removedData struct {
	ID         int64         `json:"id"`
	ExternalID string        `json:"externalId"`
	Reason     RemovalReason `json:"reason"`
}

type assignmentData struct {
	ID                 int64    `json:"id"`
	ExternalID         string   `json:"externalId"`
	EmployeeExternalID string   `json:"employeeExternalId"`
	EmployeeEmail      string   `json:"employeeEmail"`
	CourseID           int64    `json:"courseId"`
	CourseName         string   `json:"courseName"`
	Status             Status   `json:"status"`
	StatusCategory     Category `json:"statusCategory"`
	IsOverdue          bool     `json:"isOverdue"`
	CompletionPercent  float64  `json:"completionPercent"`
	Score              *float64 `json:"score"`
	NumberOfAttempts   int      `json:"numberOfAttempts"`
	IsRequired         bool     `json:"isRequired"`
	AssignedAt         string   `json:"assignedAt"`
	Deadline           string   `json:"deadline"`
	StartedAt          *string  `json:"startedAt"`
	CompletedAt        *string  `json:"completedAt"`
	LastActivityAt     string   `json:"lastActivityAt"`
}

// EmployeeJoined reports that someone joined the company.
func EmployeeJoined(e Employee, now time.Time) Event {
	tags := e.Tags
	if tags == nil {
		tags = []string{}
	}
	event := Event{Kind: EventEmployeeJoined, CompanyID: e.CompanyID, EmployeeID: e.ID, ExternalID: e.ExternalID, OccurredAt: now}
	return event.withData(employeeData{
		ID: e.ID, ExternalID: e.ExternalID, Email: e.Email, Name: e.Name, Role: e.Role, Tags: tags,
		JoinedAt: FormatInstant(e.JoinedAt),
	})
}

// EmployeeRemoved reports that someone left. It carries nothing personal but the
// company's own identifier.
func EmployeeRemoved(e Employee, reason RemovalReason, now time.Time) Event {
	event := Event{Kind: EventEmployeeRemoved, CompanyID: e.CompanyID, EmployeeID: e.ID, ExternalID: e.ExternalID, OccurredAt: now}
	return event.withData(removedData{ID: e.ID, ExternalID: e.ExternalID, Reason: reason})
}

// AssignmentEvent reports a as it is at now.
func AssignmentEvent(kind EventKind, a Assignment, now time.Time) Event {
	data := assignmentData{
		ID: a.ID, ExternalID: a.ExternalID, EmployeeExternalID: a.EmployeeExternalID, EmployeeEmail: a.EmployeeEmail,
		CourseID: a.CourseID, CourseName: a.CourseName, Status: a.Status, StatusCategory: a.Category(now),
		IsOverdue: a.Overdue(now), CompletionPercent: a.Percent.Float(), NumberOfAttempts: a.Attempts,
		IsRequired: a.IsRequired, AssignedAt: FormatInstant(a.AssignedAt), Deadline: FormatInstant(a.Deadline),
		StartedAt: formatOptional(a.StartedAt), CompletedAt: formatOptional(a.CompletedAt),
		LastActivityAt: FormatInstant(a.LastActivity()),
	}
	if a.Score != nil {
		score := a.Score.Float()
		data.Score = &score
	}
	event := Event{
		Kind: kind, CompanyID: a.CompanyID, EmployeeID: a.EmployeeID, AssignmentID: a.ID, ExternalID: a.ExternalID, OccurredAt: now,
	}
	return event.withData(data)
}

// withData returns the event with its body, as it is sent.
func (e Event) withData(data any) Event {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	// The data types above hold nothing that can fail to encode.
	_ = enc.Encode(eventBody{Event: e.Kind, CompanyID: e.CompanyID, OccurredAt: FormatInstant(e.OccurredAt), Data: data})
	e.Body = bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	return e
}

func formatOptional(t *time.Time) *string {
	if t == nil {
		return nil
	}
	s := FormatInstant(*t)
	return &s
}
