package delivery

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	keptBody    = 8 << 10  // of a response body, for the log
	keptHeaders = 16 << 10 // of names and values, for the log
)

// Outcome is the result of one attempt, as the delivery log keeps it.
type Outcome struct {
	StartedAt       time.Time
	Duration        time.Duration
	StatusCode      int    // 0 if no answer came
	Kind            Kind   // empty on success
	Detail          string // on failure: what happened and what to do, safe to show
	RequestHeaders  domain.Headers
	ResponseHeaders domain.Headers
	ResponseBody    []byte        // the first 8 KiB, as they came
	RetryAfter      time.Duration // what the receiver asked for, at most MaxRetryAfter
	Gone            bool          // the receiver answered 410: it wants nothing more
}

// OK reports whether the receiver took the event.
func (o *Outcome) OK() bool { return o.Kind == "" }

// attempt returns the outcome as the log keeps it.
func (o *Outcome) attempt(url string) domain.Attempt {
	return domain.Attempt{
		URL: url, StartedAt: domain.NormalizeTime(o.StartedAt), Duration: o.Duration, StatusCode: o.StatusCode,
		ErrorKind: string(o.Kind), Error: storable(o.Detail), RequestHeaders: o.RequestHeaders,
		ResponseHeaders: o.ResponseHeaders, ResponseBody: o.ResponseBody,
	}
}

func (o *Outcome) fail(kind Kind, detail string) { o.Kind, o.Detail = kind, detail }

// flatten keeps the first 16 KiB of what a receiver sent: headers are stored with every attempt.
func flatten(header http.Header) domain.Headers {
	if len(header) == 0 {
		return nil
	}
	flat := make(domain.Headers, 0, len(header))
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
			flat = append(flat, domain.Header{Name: name, Value: value})
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
