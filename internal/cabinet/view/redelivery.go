package view

import (
	"strings"
	"time"
)

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
	States      []string   // failed, held
	Event       string     // empty: every kind
	Endpoint    string     // its id; empty: every webhook
	EndpointURL string     // empty: every webhook, or one that is gone
	From        *time.Time // nil: as far back as there is
	To          time.Time
}

// scope says in words what is sent again.
func (r Redelivery) scope(c Clock) string {
	words := strings.Join(r.States, " and ")
	if words != "" {
		words = strings.ToUpper(words[:1]) + words[1:] + " "
	}
	words += "deliveries"
	if r.Event != "" {
		words += " of " + r.Event
	}
	switch {
	case r.EndpointURL != "":
		words += " to " + shortURL(r.EndpointURL)
	case r.Endpoint != "":
		words += " to a webhook that was removed"
	}
	if r.From != nil {
		return words + ", from " + c.Exact(*r.From) + " to " + c.Exact(r.To) + "."
	}
	return words + ", up to " + c.Exact(r.To) + "."
}

// log is the address of the log narrowed to the same. They are in other states
// by now, so that is left open.
func (r Redelivery) log(c Clock) string {
	after := r.To.Add(time.Minute) // the log's end is exclusive
	return withQuery(PathDeliveries, "endpoint", r.Endpoint, "event", r.Event, "from", c.Input(r.From), "to", c.Input(&after))
}

var redeliverStates = []Option{{"failed", "Failed"}, {"held", "Held"}, {"both", "Failed and held"}}
