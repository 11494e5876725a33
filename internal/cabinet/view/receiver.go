package view

import (
	"net/http"
	"strconv"
	"time"
)

// PathDemoReceiver is the page of the demo that shows webhooks as they arrive.
const PathDemoReceiver = "/demo/receiver"

// Receiver is what the demo's receivers got, the newest first.
type Receiver struct {
	Items []Received
	Total int64 // received in all
}

// Received is a webhook as it arrived.
type Received struct {
	Number   int64
	At       time.Time
	Receiver string
	Delivery string
	Event    string
	Sequence int64
	Attempt  int
	Problem  string // why the signature is not valid; empty if it is
	Status   int    // what the receiver answered
	Body     string
}

// answer returns the answer in words and its tone.
func (r Received) answer() (Tone, string) {
	tone := ToneRed
	if r.Status < http.StatusMultipleChoices {
		tone = ToneGreen
	}
	return tone, strconv.Itoa(r.Status) + " " + http.StatusText(r.Status)
}

// next returns the address of what arrives from now on.
func (v Receiver) next() string {
	return withQuery(PathDemoReceiver, "after", formatInt(v.Total))
}

func (v Receiver) count() string {
	return plural(v.Total, "webhook", "webhooks") + " received since the start. The last 100 are shown."
}
