package delivery

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	keptBody    = 8 << 10  // of a response body, for the log
	keptHeaders = 16 << 10 // of names and values, for the log
)

// Outcome is what one attempt came to, as the delivery log keeps it.
type Outcome struct {
	StartedAt       time.Time
	Duration        time.Duration
	StatusCode      int    // 0 if no answer came
	Kind            Kind   // empty on success
	Detail          string // on failure: what happened and what to do, safe to show
	RequestHeaders  Headers
	ResponseHeaders Headers
	ResponseBody    []byte        // the first 8 KiB, as they came
	RetryAfter      time.Duration // what the receiver asked for, at most MaxRetryAfter
	Gone            bool          // the receiver answered 410: it wants nothing more
}

// OK tells whether the receiver took the event.
func (o *Outcome) OK() bool { return o.Kind == "" }

func (o *Outcome) fail(kind Kind, detail string) { o.Kind, o.Detail = kind, detail }

// Header is one header line. Its texts are valid UTF-8 without NUL, whatever the receiver sent.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Headers are the header lines of one message: the request's in the order in which they are listed in the docs, the
// response's by name.
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

// flatten keeps the first 16 KiB of what a receiver sent: headers are stored with every attempt.
func flatten(header http.Header) Headers {
	if len(header) == 0 {
		return nil
	}
	flat := make(Headers, 0, len(header))
	left := keptHeaders
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			if left <= len(name) {
				return flat
			}
			left -= len(name)
			value = storable(value)
			if len(value) > left {
				value = storable(value[:left])
				for len(value) > left { // a rune cut in half grew into a replacement character
					value = value[:len(value)-len("\uFFFD")]
				}
			}
			left -= len(value)
			flat = append(flat, Header{Name: name, Value: value})
		}
	}
	return flat
}

// storable makes text fit for a database column: PostgreSQL takes neither invalid UTF-8 nor NUL.
func storable(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", "\uFFFD")
	}
	return text
}

// shorten makes a receiver's text fit into a sentence.
func shorten(text string) string {
	text = storable(text)
	if len(text) <= maxQuoted {
		return text
	}
	return strings.ToValidUTF8(text[:maxQuoted], "") + "…"
}
