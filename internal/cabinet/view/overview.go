package view

import "time"

// Overview is the first page of an integrator: what is left to set up and the state of
// deliveries.
type Overview struct {
	Steps     []Step // empty once the company has put the list away or is done
	Endpoints []Endpoint
	Day       Health
	Chart     *Chart // nil while nothing was ever sent
}

// StepKind names an item of the getting-started list.
type StepKind string

// The steps of an integrator and those of an administrator, in their order.
const (
	StepToken   StepKind = "token"
	StepCall    StepKind = "call"
	StepWebhook StepKind = "webhook"
	StepEvent   StepKind = "event"

	StepPeople  StepKind = "people"
	StepAssign  StepKind = "assign"
	StepInvite  StepKind = "invite"
	StepConnect StepKind = "connect"
)

// Step is an item of the getting-started list.
type Step struct {
	Kind StepKind
	Done bool
	At   *time.Time // when it was done, if known
	Path string     // where to do it; for StepEvent the endpoint to test
}

// Health counts what became of the deliveries of the last 24 hours.
type Health struct {
	Delivered int64
	Retrying  int64
	Failed    int64
	Held      int64
}

// missing describes what share of the deliveries has not arrived.
func (h Health) missing() string {
	tried := h.Delivered + h.Retrying + h.Failed
	if h.Delivered == 0 {
		return "No delivery of the last 24 hours has arrived"
	}
	return formatPercent(h.Retrying+h.Failed, tried) + " of the deliveries of the last 24 hours have not arrived"
}

// words describes what became of the deliveries, leaving out what there is none of.
func (h Health) words() string {
	out := formatCount(h.Delivered) + " delivered"
	for _, part := range []struct {
		n    int64
		word string
	}{{h.Retrying, "retrying"}, {h.Failed, "failed"}, {h.Held, "held"}} {
		if part.n > 0 {
			out += ", " + formatCount(part.n) + " " + part.word
		}
	}
	return out
}

type stepWords struct{ title, sentence, button string }

var steps = map[StepKind]stepWords{
	StepToken:   {"Create a token", "Your system connects to the API with it.", "Create a token"},
	StepCall:    {"Make the first call", "Look up your company through the API. A new token comes with a command to paste.", "Open the API docs"},
	StepWebhook: {"Add a webhook", "Get notified when people join, finish or fall behind.", "Add a webhook"},
	StepEvent:   {"Receive a test event", "Send one from the webhook's page and see how your system answers.", "Send a test event"},

	StepPeople:  {"Add your people", "Import a list from your HR system, or add people one by one.", "Import people"},
	StepAssign:  {"Assign the first course", "Choose who has to do it, and by when.", "Assign a course"},
	StepInvite:  {"Invite a colleague", "Someone who can help, or who only looks.", "Invite a colleague"},
	StepConnect: {"Connect a system", "Your HR system can add people and assign courses by itself.", "See how"},
}

func doneSteps(list []Step) (done int64) {
	for _, s := range list {
		if s.Done {
			done++
		}
	}
	return done
}

// nextStep is the first that is left: it alone carries a primary button.
func nextStep(list []Step) int {
	for i, s := range list {
		if !s.Done {
			return i
		}
	}
	return -1
}
