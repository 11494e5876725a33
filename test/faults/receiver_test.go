package faults

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// arrival is one attempt that reached a receiver.
type arrival struct {
	delivery  string // X-Service-Delivery
	attempt   string
	event     string
	subject   string // the externalId that the event is about
	body      string
	signature string
	at        time.Time
}

// key names what happened, whoever tells of it how often.
func (a arrival) key() string { return a.event + " " + a.subject }

// signed says whether the secret made the signature.
func (a arrival) signed(secret string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(a.body))
	return a.signature == "sha256="+hex.EncodeToString(mac.Sum(nil))
}

// receiver takes webhooks and remembers them.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	arrivals []arrival
	more     chan struct{}
	leave    chan struct{} // closed at the end, for handlers that hang
}

// newReceiver answers with what answer says, 204 if it is nil. A handler that
// wants to hang waits for its receiver's leave.
func newReceiver(t *testing.T, answer func(r *receiver, w http.ResponseWriter, a arrival)) *receiver {
	t.Helper()
	r := &receiver{more: make(chan struct{}), leave: make(chan struct{})}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return // the sender died
		}
		a := r.note(req, body)
		if answer == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answer(r, w, a)
	}))
	t.Cleanup(func() {
		close(r.leave)
		r.CloseClientConnections()
		r.Close()
	})
	return r
}

func (r *receiver) note(req *http.Request, body []byte) arrival {
	var told struct {
		Event string
		Data  struct{ ExternalID string }
	}
	_ = json.Unmarshal(body, &told) // a body that is none shows as an unknown event
	a := arrival{
		delivery: req.Header.Get("X-Service-Delivery"), attempt: req.Header.Get("X-Service-Attempt"),
		event: told.Event, subject: told.Data.ExternalID, body: string(body),
		signature: req.Header.Get("X-Service-Signature"), at: time.Now(),
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrivals = append(r.arrivals, a)
	close(r.more)
	r.more = make(chan struct{})
	return a
}

// hang keeps the sender waiting until it gives up or the test ends.
func hang(r *receiver, _ http.ResponseWriter, _ arrival) { <-r.leave }

// all gives what has arrived, and a channel that closes when there is more.
func (r *receiver) all() ([]arrival, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.arrivals[:len(r.arrivals):len(r.arrivals)], r.more
}

// until waits for arrivals that ok is content with.
func (r *receiver) until(t *testing.T, within time.Duration, what string, ok func([]arrival) bool) []arrival {
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

// about waits until something about the subject has arrived n times.
func (r *receiver) about(t *testing.T, within time.Duration, subject string, n int) []arrival {
	t.Helper()
	var found []arrival
	r.until(t, within, "events about "+subject, func(all []arrival) bool {
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
