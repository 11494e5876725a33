package view

import "time"

// RedeliverForm sends many deliveries again. It is counted first: Count is set
// once the person has asked, and only then can it be started.
type RedeliverForm struct {
	Endpoints []Option
	Endpoint  string
	Event     string
	State     string // failed, held or both
	From, To  string
	Count     *int64
	Errors    Errors
}

// Redelivery is a redelivery of many under way.
type Redelivery struct {
	ID          int64
	Total       int64
	Done        int64
	RequestedBy string
	StartedAt   time.Time
	FinishedAt  *time.Time
	Scope       string // in words: "Failed, hr.example.com, 13 Nov 2026, 00:00 to …"
	Log         string // the log narrowed to the same
}

var redeliverStates = []Option{{"failed", "Failed"}, {"held", "Held"}, {"both", "Failed and held"}}
