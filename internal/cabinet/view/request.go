package view

import (
	"strings"
	"time"
)

// Request is one call of the API.
type Request struct {
	ID        int64
	At        time.Time
	TokenID   int64
	Token     string
	Method    string
	Route     string
	Status    int
	Took      time.Duration
	RequestID string
	Code      string // of the error, empty for a success
	Message   string // of the error
}

// RequestDetail is the page of a request.
type RequestDetail struct {
	Request
	Body    string // of a failed request, with masked fields
	NotKept bool   // the company keeps no bodies
}

func (r Request) failed() bool { return r.Status >= 400 }

// RequestFilter is what the log is narrowed to, as it stands in the address.
type RequestFilter struct {
	Outcome string
	Token   string
	Period  Period
	Search  string
	Errors  Errors
}

// RequestHour counts the calls of one hour.
type RequestHour struct {
	From         time.Time
	Succeeded    int64
	Failed       int64
	ServerErrors int64 // how many of the failed ones
}

// RequestList is the page of the log of requests.
type RequestList struct {
	Off      bool // the operator has turned the log off
	Filter   RequestFilter
	Tokens   []Option
	Hours    []RequestHour // the last 24, the oldest first
	Requests []Request
	More     bool
	Capped   bool // the search has more matches than it looks for
	Pager    Pager
}

// cappedLogSearch is said above a log if a search finds more than it looks for.
const cappedLogSearch = "More match than a search shows. Type more of it."

var requestOutcomes = []Option{{"", "Any outcome"}, {"succeeded", "Succeeded"}, {"failed", "Failed"}}

func (f RequestFilter) active() bool { return f.narrowed() || f.Search != "" }

// narrowed reports whether the filter holds anything but a search.
func (f RequestFilter) narrowed() bool { return f.Outcome+f.Token+f.Period.Choice != "" }

func (f RequestFilter) exportPath() string {
	return withQuery(PathRequestsExport, append(f.Period.query(), "outcome", f.Outcome, "token", f.Token, "q", f.Search)...)
}

func (l RequestList) total() string {
	if l.More {
		return "More than " + formatCount(int64(len(l.Requests))) + " requests"
	}
	return plural(int64(len(l.Requests)), "request", "requests")
}

func (r Request) tone() Tone {
	switch {
	case r.Status >= 500:
		return ToneRed
	case r.Status >= 400:
		return ToneAmber
	default:
		return ToneGreen
	}
}

// outcome is the status with the error in words: 404 employee not found.
func (r Request) outcome() string {
	if r.Code == "" {
		return formatInt(int64(r.Status))
	}
	return formatInt(int64(r.Status)) + " " + strings.ReplaceAll(r.Code, "_", " ")
}

// requestBuckets turns counts of requests into the bars of a chart.
func requestBuckets(hours []RequestHour) []Bucket {
	out := make([]Bucket, len(hours))
	for i, h := range hours {
		out[i] = Bucket{From: h.From, Delivered: h.Succeeded, Retrying: h.Failed - h.ServerErrors, Failed: h.ServerErrors}
	}
	return out
}

// requestChart is the chart of the calls of the last 24 hours by status.
func requestChart(hours []RequestHour) Chart {
	return Chart{Title: "Requests in the last 24 hours", Buckets: requestBuckets(hours), Series: &[3]string{"succeeded", "client errors (4xx)", "server errors (5xx)"}}
}

// noRequests reports whether no call was made in the hours: an empty chart says nothing.
func noRequests(hours []RequestHour) bool {
	return Chart{Buckets: requestBuckets(hours)}.totals().total() == 0
}

func requestWords(hours []RequestHour) string {
	sum := Chart{Buckets: requestBuckets(hours)}.totals()
	return formatCount(sum.Delivered) + " succeeded, " + formatCount(sum.total()-sum.Delivered) + " failed"
}

func anyToken(tokens []Option) []Option { return append([]Option{{"", "Any token"}}, tokens...) }
