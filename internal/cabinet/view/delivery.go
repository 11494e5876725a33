package view

import (
	"strconv"
	"time"
)

// DeliveryState is where a delivery stands, in the words of the log.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryPending   DeliveryState = "pending" // not tried yet
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryRetrying  DeliveryState = "retrying"
	DeliveryFailed    DeliveryState = "failed"
	DeliveryHeld      DeliveryState = "held"
)

// Delivery is a row of the log.
type Delivery struct {
	ID          string
	Sequence    int64
	State       DeliveryState
	Event       string
	ExternalID  string
	EndpointID  int64
	EndpointURL string
	Attempts    int
	CreatedAt   time.Time
	NextAttempt *time.Time
	Test        bool // a test event
}

// DeliveryFilter is what the log is narrowed to, as it stands in the address.
type DeliveryFilter struct {
	Endpoint string
	Event    string
	State    string
	Period   Period
	Search   string
	Errors   Errors
}

// DeliveryList is the page of the log.
type DeliveryList struct {
	Filter     DeliveryFilter
	Endpoints  []Option // value: id
	Deliveries []Delivery
	Total      int64
	More       bool // there are more than Total says
	Pager      Pager
	Live       bool // on the first page, which can be kept current
	Capped     bool // the search has more matches than it looks for
}

// Attempt is one try at a delivery.
type Attempt struct {
	Number          int
	URL             string
	StartedAt       time.Time
	Took            time.Duration
	StatusCode      int // 0: no answer
	OK              bool
	ErrorKind       string // dns, connect, tls, timeout, status, …
	Error           string // what happened and what to do
	RequestedBy     string // who asked for it; empty: the schedule
	RequestHeaders  []Header
	ResponseHeaders []Header
	ResponseBody    string
	ResponseCut     bool
}

// Header is a line of an HTTP message.
type Header struct{ Name, Value string }

// DeliveryDetail is one delivery with all its attempts.
type DeliveryDetail struct {
	Delivery
	Body         string
	Erased       bool      // the person was erased and the body with them
	Tries        []Attempt // newest first
	Curl         string
	CanRedeliver bool
	EndpointGone bool // the endpoint was removed
}

var deliveryStates = []Option{
	{"", "Any state"}, {"delivered", "Delivered"}, {"retrying", "Retrying"},
	{"failed", "Failed"}, {"held", "Held"}, {"pending", "Waiting"},
}

func (f DeliveryFilter) active() bool { return f.narrowed() || f.Search != "" }

// narrowed reports whether the filter holds anything but a search.
func (f DeliveryFilter) narrowed() bool { return f.Endpoint+f.Event+f.State+f.Period.Choice != "" }

// path adds the filter to a path.
func (f DeliveryFilter) path(base string) string {
	return withQuery(base, append(f.Period.query(), "endpoint", f.Endpoint, "event", f.Event, "state", f.State, "q", f.Search)...)
}

func (s DeliveryState) tone() Tone {
	switch s {
	case DeliveryDelivered:
		return ToneGreen
	case DeliveryRetrying:
		return ToneAmber
	case DeliveryFailed:
		return ToneRed
	case DeliveryPending:
		return ToneBlue
	default:
		return ToneGrey
	}
}

func (s DeliveryState) word() string {
	switch s {
	case DeliveryDelivered:
		return "Delivered"
	case DeliveryRetrying:
		return "Retrying"
	case DeliveryFailed:
		return "Failed"
	case DeliveryPending:
		return "Waiting"
	default:
		return "Held"
	}
}

// total returns the number of deliveries in words, as exactly as it is known.
func (l DeliveryList) total() string {
	if l.More {
		return "More than " + formatCount(l.Total) + " deliveries"
	}
	return plural(l.Total, "delivery", "deliveries")
}

func eventOptions() []Option {
	options := []Option{{"", "Any event"}}
	for _, kind := range allEvents {
		options = append(options, Option{kind, kind})
	}
	return options
}

func anyEndpoint(list []Option) []Option {
	return append([]Option{{"", "Any webhook"}}, list...)
}

// answer is the outcome of an attempt in a word or two.
func (a Attempt) answer() string {
	if a.StatusCode > 0 {
		return strconv.Itoa(a.StatusCode)
	}
	switch a.ErrorKind {
	case "dns":
		return "Name not found"
	case "connect":
		return "No connection"
	case "tls":
		return "TLS failed"
	case "timeout":
		return "Timed out"
	case "blocked_address":
		return "Address not allowed"
	case "body":
		return "Broken answer"
	default:
		return "No answer"
	}
}

func (a Attempt) tone() Tone {
	if a.OK {
		return ToneGreen
	}
	return ToneRed
}
