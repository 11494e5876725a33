package faults

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"
)

// arrival is a delivery attempt that reached a receiver.
type arrival struct {
	delivery  string // X-Service-Delivery
	attempt   string
	sequence  int64 // X-Service-Sequence, 0 if it is missing
	event     string
	subject   string // the externalId that the event is about
	body      string
	signature string
	at        time.Time
}

// key identifies the change that the event reports; it is the same for every
// attempt.
func (a arrival) key() string { return a.event + " " + a.subject }

// hasSignature reports whether the body was signed with the secret.
func (a arrival) hasSignature(secret string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(a.body))
	return a.signature == "sha256="+hex.EncodeToString(mac.Sum(nil))
}

// receiver is a server that records the webhooks it gets.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	arrivals []arrival
	changed  chan struct{}
	done     chan struct{} // closed when the test ends; handlers that hang wait for it
}

// newReceiver starts a receiver whose responses are written by answer; nil stands
// for a 204. A handler that hangs must return when done is closed.
func newReceiver(t *testing.T, answer func(r *receiver, w http.ResponseWriter, a arrival)) *receiver {
	t.Helper()
	r := &receiver{changed: make(chan struct{}), done: make(chan struct{})}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return // the sender was killed
		}
		a := r.record(req, body)
		if answer == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answer(r, w, a)
	}))
	t.Cleanup(func() {
		close(r.done)
		r.CloseClientConnections()
		r.Close()
	})
	return r
}

func (r *receiver) record(req *http.Request, body []byte) arrival {
	var payload struct {
		Event string
		Data  struct{ ExternalID string }
	}
	_ = json.Unmarshal(body, &payload) // an invalid body is recorded as an unknown event
	sequence, _ := strconv.ParseInt(req.Header.Get("X-Service-Sequence"), 10, 64)
	a := arrival{
		sequence: sequence,
		delivery: req.Header.Get("X-Service-Delivery"), attempt: req.Header.Get("X-Service-Attempt"),
		event: payload.Event, subject: payload.Data.ExternalID, body: string(body),
		signature: req.Header.Get("X-Service-Signature"), at: time.Now(),
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrivals = append(r.arrivals, a)
	close(r.changed)
	r.changed = make(chan struct{})
	return a
}

// hang does not answer until the test ends.
func hang(r *receiver, _ http.ResponseWriter, _ arrival) { <-r.done }

// all returns the arrivals so far and a channel that is closed when there are
// more.
func (r *receiver) all() ([]arrival, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.arrivals[:len(r.arrivals):len(r.arrivals)], r.changed
}

// waitUntil waits until ok accepts the arrivals, and returns them.
func (r *receiver) waitUntil(t *testing.T, within time.Duration, what string, ok func([]arrival) bool) []arrival {
	t.Helper()
	deadline := time.After(within)
	for {
		got, more := r.all()
		if ok(got) {
			return got
		}
		select {
		case <-more:
		case <-deadline:
			t.Fatalf("%s: not within %s; %d arrived", what, within, len(got))
		}
	}
}

// waitFor waits until n events with the subject have arrived, and returns them.
func (r *receiver) waitFor(t *testing.T, within time.Duration, subject string, n int) []arrival {
	t.Helper()
	var found []arrival
	r.waitUntil(t, within, "events about "+subject, func(all []arrival) bool {
		found = nil
		for _, a := range all {
			if a.subject == subject {
				found = append(found, a)
			}
		}
		return len(found) >= n
	})
	return found
}
