package view

import (
	"strings"
	"time"
)

// RedeliverForm sends many deliveries again. Count is set once the person has asked
// for a preview; only then can it be started.
type RedeliverForm struct {
	Endpoints []Option
	Endpoint  string
	Event     string
	State     string // failed, held, both or all
	Period    Period
	From, To  string // the counted period, as the second form sends it
	Notes     []string
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
	Problem     string     // why it ended early; empty if it did not
	States      []string   // failed, held, delivered
	Event       string     // empty: every kind
	Endpoint    string     // its id; empty: every webhook
	EndpointURL string     // empty: every webhook, or one that is gone
	From        *time.Time // nil: as far back as there is
	To          time.Time
}

// scope describes in words what is sent again.
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

// log returns the address of the log, narrowed to the same deliveries. Their states
// have changed, so it leaves the state open.
func (r Redelivery) log(c Clock) string {
	after := r.To.Add(time.Minute) // the log's end is exclusive
	return withQuery(PathDeliveries, "endpoint", r.Endpoint, "event", r.Event, "period", PeriodCustom, "from", c.Input(r.From), "to", c.Input(&after))
}

var redeliverStates = []Option{{"both", "Failed and held"}, {"failed", "Failed"}, {"held", "Held"}, {"all", "All, delivered ones too"}}
