package view

import (
	"slices"
	"time"
)

// EndpointState is the health of an endpoint.
type EndpointState string

// The states of an endpoint.
const (
	EndpointHealthy  EndpointState = "healthy"
	EndpointDegraded EndpointState = "degraded"
	EndpointFailing  EndpointState = "failing"
	EndpointDisabled EndpointState = "disabled"
	EndpointIdle     EndpointState = "idle" // nothing was sent in the last 24 hours
)

// Endpoint is a webhook: a row of the list and the subject of its page.
type Endpoint struct {
	ID             int64
	URL            string
	Description    string
	Events         []string
	State          EndpointState
	DisabledReason string // by_person, gone or failing
	DisabledAt     *time.Time
	FailingSince   *time.Time
	CreatedAt      time.Time
	CreatedBy      string
	Day            Health
	Hours          []Bucket // the last 24
	LastDelivery   *time.Time
}

// EndpointList is the page of all webhooks.
type EndpointList struct {
	Endpoints []Endpoint
	Search    string
}

// EndpointForm makes or changes a webhook. ID is 0 for a new one.
type EndpointForm struct {
	ID          int64
	URL         string
	Description string
	StrictOrder bool // one delivery at a time
	Kinds       []EventChoice
	HTTPAllowed bool   // the operator allows http
	Rate        string // requests a minute at most; empty: any number
	Headers     string // a line for each, with masked values
	Errors      Errors
}

// headersHelp describes the field of headers. Only a webhook that has some shows dots.
func (f EndpointForm) headersHelp() string {
	const help = "Added to every request, one per line, at most 10. Values are stored encrypted and not shown again"
	if f.ID == 0 {
		return help + "."
	}
	return help + "; leave the dots to keep a value."
}

// EventChoice is an event kind that can be subscribed to.
type EventChoice struct {
	Kind    string
	Sample  string // a body as it is sent
	Checked bool
}

// EndpointDetail is the page of one webhook.
type EndpointDetail struct {
	Endpoint
	Secret        string     // set only when it was asked for
	PreviousUntil *time.Time // the old secret signs too until then
	Held          int64      // events that wait to be redelivered
	Outcome       *TestOutcome
	Chart         *Chart
	Recent        []Delivery
	Snippets      []Snippet
	Headers       []string // names of the company's own headers
	HeadersLost   bool     // they can't be decrypted
	Rate          int64    // requests a minute at most; 0: any number
	StrictOrder   bool     // one delivery at a time
	Since         string   // where recovering starts unless somebody chooses otherwise, as an input writes it
}

func (e EndpointDetail) rate() string {
	if e.Rate == 0 {
		return "no limit"
	}
	return "at most " + formatCount(e.Rate)
}

func (e EndpointDetail) order() string {
	if e.StrictOrder {
		return "strict: one event at a time"
	}
	return "later events don't wait for retries"
}

// EventKind is an entry of the catalogue of events.
type EventKind struct {
	Name     string
	Sample   string    // a body as it is sent
	Webhooks int64     // that are subscribed
	Latest   *Delivery // the latest real one that was sent
}

// Snippet is a program that verifies a signature.
type Snippet struct {
	ID    string
	Label string
	Code  string
}

// TestOutcome is the result of a test event.
type TestOutcome struct {
	OK         bool
	StatusCode int // 0: no answer
	Took       time.Duration
	Error      string // on failure: what happened and what to do
	Response   string
	Truncated  bool // the response was longer
	DeliveryID string
}

// URLCheck is the answer to whether events can be sent to an address.
type URLCheck struct {
	OK      bool
	Message string
}

var eventSentences = map[string]string{
	"assignment.created":   "A course was assigned to someone.",
	"assignment.completed": "Someone completed or passed a course.",
	"assignment.failed":    "Someone used the last attempt without passing.",
	"assignment.overdue":   "A deadline passed before the course was completed.",
	"employee.joined":      "Someone joined the company, or came back.",
	"employee.removed":     "Someone was offboarded or deleted.",
}

// eventDetails add to eventSentences what an integrator asks next.
var eventDetails = map[string]string{
	"assignment.created":   "Sent for every new assignment: from the API, in bulk or from the cabinet. The data is the assignment.",
	"assignment.completed": "Sent once, when the status becomes completed. The data is the assignment with its score.",
	"assignment.failed":    "Sent when the status becomes failed. Somebody may grant another attempt later. The data is the assignment.",
	"assignment.overdue":   "Sent once, within five seconds of the deadline, and again if the deadline was moved and passes again. The data is the assignment.",
	"employee.joined":      "Sent when a person is created, linked or brought back, by the API or in the cabinet. The data is the employee.",
	"employee.removed":     "Sent alone: there is nothing more about the person's assignments. The reason is offboarded or deleted.",
}

type headerWords struct{ name, sentence string }

// eventHeaders are the headers of every delivery.
var eventHeaders = []headerWords{
	{"X-Service-Event", "The kind of the event."},
	{"X-Service-Delivery", "The same on every attempt and redelivery of one event to one webhook. Use it to drop repeats."},
	{"X-Service-Sequence", "A number that grows with every event of your company. Use it to tell the true order."},
	{"X-Service-Attempt", "1 for the first attempt."},
	{"X-Service-Signature", "sha256= and the HMAC of the exact body, keyed with the signing secret."},
	{"X-Service-Test", "true on a test event only. Do not act on it."},
	{"webhook-id, webhook-timestamp, webhook-signature", "The same as Standard Webhooks defines it, with the time signed too."},
}

var allEvents = []string{
	"assignment.created", "assignment.completed", "assignment.failed", "assignment.overdue",
	"employee.joined", "employee.removed",
}

func (f EndpointForm) head() Head {
	if f.ID == 0 {
		return Head{
			Section: SectionWebhooks, Title: "Add webhook", Crumbs: []Link{{"Webhooks", PathWebhooks}},
			Sentence: "A signing secret is created with it. You can send a test event right away.",
		}
	}
	return Head{Section: SectionWebhooks, Title: "Edit webhook", Crumbs: endpointCrumbs(Endpoint{ID: f.ID, URL: f.URL})}
}

func (f EndpointForm) action() string {
	if f.ID == 0 {
		return PathWebhookNew
	}
	return PathWebhook(f.ID, "edit")
}

func (f EndpointForm) verb() string {
	if f.ID == 0 {
		return "Add webhook"
	}
	return "Save"
}

func (f EndpointForm) cancel() string {
	if f.ID == 0 {
		return PathWebhooks
	}
	return PathWebhook(f.ID)
}

func (e Endpoint) tone() Tone {
	switch e.State {
	case EndpointHealthy:
		return ToneGreen
	case EndpointDegraded:
		return ToneAmber
	case EndpointFailing:
		return ToneRed
	default:
		return ToneGrey
	}
}

func (e Endpoint) word() string {
	switch e.State {
	case EndpointHealthy:
		return "Healthy"
	case EndpointDegraded:
		return "Degraded"
	case EndpointFailing:
		return "Failing"
	case EndpointDisabled:
		return "Disabled"
	case EndpointIdle:
		return "Idle"
	default:
		return "Nothing sent yet"
	}
}

func (e Endpoint) eventList() string {
	if len(e.Events) == len(allEvents) {
		return "All events"
	}
	if len(e.Events) == 1 {
		return e.Events[0]
	}
	return plural(int64(len(e.Events)), "event", "events")
}

// orderedEvents are the endpoint's kinds in the order of the contract.
func (e Endpoint) orderedEvents() []string {
	var out []string
	for _, kind := range allEvents {
		if slices.Contains(e.Events, kind) {
			out = append(out, kind)
		}
	}
	return out
}

func (e Endpoint) whyDisabled() string {
	switch e.DisabledReason {
	case "gone":
		return "Your system answered 410 Gone, which means that it no longer wants events."
	case "failing":
		return "Every attempt failed for five days."
	default:
		return "An administrator disabled it."
	}
}

// EndpointRemove asks before a webhook is removed.
func EndpointRemove(e Endpoint) Confirm {
	effects := []string{"Nothing more will be sent to " + e.URL + ". Its deliveries stay in the log for 30 days."}
	if waiting := e.Day.Retrying + e.Day.Held; waiting > 0 {
		effects = append(effects, plural(waiting, "waiting delivery", "waiting deliveries")+" will be dropped.")
	}
	return Confirm{
		Section: SectionWebhooks, Crumbs: endpointCrumbs(e),
		Title: "Remove this webhook?", Effects: append(effects, "This cannot be undone."),
		Action: PathWebhook(e.ID, "remove"), Verb: "Remove webhook", Danger: true, Cancel: PathWebhook(e.ID),
	}
}

// EndpointRotate asks before the secret is changed. It warns if the secret was
// rotated less than 24 hours ago.
func EndpointRotate(c Clock, e Endpoint, again bool) Confirm {
	until := c.Exact(c.Now.Add(24 * time.Hour))
	effects := []string{
		"Requests will be signed with a new secret. Until " + until + " they are also signed with the current one: webhook-signature carries both signatures, and X-Service-Signature-Previous the old one.",
		"Put the new secret into your system before then. The sample code on the webhook's page accepts both.",
	}
	if again {
		effects = append([]string{
			"This secret was already rotated in the last 24 hours. Every secret of that time keeps signing for its 24 hours, and X-Service-Signature-Previous will carry several signatures, separated by commas.",
		}, effects...)
	}
	return Confirm{
		Section: SectionWebhooks, Crumbs: endpointCrumbs(e),
		Title: "Rotate the signing secret?", Effects: effects,
		Action: PathWebhook(e.ID, "rotate"), Verb: "Rotate secret", Cancel: PathWebhook(e.ID),
	}
}

// EndpointDisable asks before a webhook is disabled.
func EndpointDisable(e Endpoint) Confirm {
	return Confirm{
		Section: SectionWebhooks, Crumbs: endpointCrumbs(e),
		Title: "Disable this webhook?",
		Effects: []string{
			"Events for " + e.URL + " will be held instead of sent. They are kept for 30 days, and you can redeliver them once the webhook is enabled again.",
		},
		Action: PathWebhook(e.ID, "disable"), Verb: "Disable webhook", Cancel: PathWebhook(e.ID),
	}
}

// EndpointEnable asks before a webhook is enabled: a test event is sent first,
// and when that was refused, whether to go on all the same.
func EndpointEnable(e Endpoint, refused string) Confirm {
	v := Confirm{
		Section: SectionWebhooks, Crumbs: endpointCrumbs(e),
		Title:   "Enable this webhook?",
		Effects: []string{"We will send a test event to " + e.URL + " first. The webhook is enabled if your system accepts it."},
		Action:  PathWebhook(e.ID, "enable"), Verb: "Test and enable", Cancel: PathWebhook(e.ID),
	}
	if refused != "" {
		v.Title, v.Verb = "Enable it anyway?", "Enable without a test"
		v.Effects = []string{refused, "Events that your system does not accept will be retried and will fail in the end."}
		v.Hidden = []HiddenInput{{"force", "1"}}
	}
	return v
}

func endpointCrumbs(e Endpoint) []Link {
	return []Link{{"Webhooks", PathWebhooks}, {shortURL(e.URL), PathWebhook(e.ID)}}
}
