package domain

import (
	"strings"
	"time"
)

// DeliveryState is where a delivery stands.
type DeliveryState string

// The states. A pending delivery that has failed before is shown as retrying.
const (
	DeliveryPending   DeliveryState = "pending"
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryFailed    DeliveryState = "failed"
	DeliveryHeld      DeliveryState = "held"
)

// Delivery is one event on its way to one endpoint.
type Delivery struct {
	CompanyID   int64
	ID          string // UUIDv7, the same on every attempt
	EndpointID  int64
	Sequence    int64 // the id of the event: it grows with every event of the company
	Kind        EventKind
	ExternalID  string
	State       DeliveryState
	Attempts    int
	RoundStart  int // attempts made before the present round of tries
	DueAt       time.Time
	CreatedAt   time.Time
	FinishedAt  *time.Time
	StatusCode  int
	ErrorKind   string
	RequestedBy string // who asked for the present round; empty for the event itself
	EndpointURL string
	Erased      bool // the person is gone, and the body with them
	Test        bool // a test event, which is never sent again
	Body        []byte
}

// Retrying reports whether a pending delivery has failed before in this round.
func (d Delivery) Retrying() bool {
	return d.State == DeliveryPending && d.Attempts > d.RoundStart
}

// Attempt is one try at a delivery, as the log keeps it.
type Attempt struct {
	CompanyID       int64
	DeliveryID      string
	Number          int
	URL             string
	StartedAt       time.Time
	Duration        time.Duration
	StatusCode      int
	ErrorKind       string
	Error           string
	RequestHeaders  Headers
	ResponseHeaders Headers
	ResponseBody    []byte
	RequestedBy     string
}

// MaxResponseLog is how much of a response body the log keeps.
const MaxResponseLog = 8 << 10

// Header is one HTTP header line. Its texts are valid UTF-8 without NUL, whatever
// the receiver sent.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Headers are the header lines of one message: the request's in the order in which
// the documentation lists them, the response's by name.
type Headers []Header

// Get returns the first value of that name in any case, empty if there is none.
func (h Headers) Get(name string) string {
	for _, line := range h {
		if strings.EqualFold(line.Name, name) {
			return line.Value
		}
	}
	return ""
}

// TestEvent is an event that a person sends to an endpoint to try it.
type TestEvent struct {
	Endpoint               Endpoint
	Secret, PreviousSecret string
	Headers                Headers
	Event                  Event
	ID                     string // of the delivery
}

// DeliveryDetail is one delivery with all that was tried, first attempt first.
type DeliveryDetail struct {
	Delivery
	Tries []Attempt
}

// DeliveryPage is one page of the delivery log; Next is nil on the last one.
type DeliveryPage struct {
	Items  []Delivery
	Next   *Cursor
	Capped bool // the search has more matches than it looks for
}

// DeliveryFilter narrows the delivery log; zero fields do not.
type DeliveryFilter struct {
	EndpointID int64
	State      DeliveryState
	Kind       EventKind
	From, To   *time.Time
	Search     string // an externalId or a delivery id
	Retried    bool   // of the pending ones, those that have failed before
}

// ErrorErased is the error kind of a delivery whose person was erased before it
// was sent, ErrorRemoved of one whose endpoint was removed, ErrorInternal of an
// attempt whose request could not be made, as a secret can't be read.
const (
	ErrorErased   = "erased"
	ErrorRemoved  = "removed"
	ErrorInternal = "internal"
)

// ErrDeliveryErased is returned when there is nothing left to send.
var ErrDeliveryErased = Errorf(CodeInvalid, "The person of this event was deleted, and the event's content with them: there is nothing left to send.")

// ErrDeliveryTest is returned for a test event. Redelivered, it would look like a real
// one.
var ErrDeliveryTest = Errorf(CodeInvalid, "This is a test event. Send another test event from the webhook's page instead.")

// ErrDeliveryNotFound is returned when the company has no such delivery.
var ErrDeliveryNotFound = Errorf(CodeNotFound, "There is no such delivery. Deliveries are kept for 30 days.")
