package client

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	v1 "github.com/coursebridge/coursebridge/api/v1"
)

// Delivery is what the headers of a webhook request say about it.
type Delivery struct {
	ID       string // the same for every attempt and redelivery of an event
	Sequence int64  // grows with every event of the company
	Attempt  int
}

// WebhookHandler is an http.Handler that receives webhooks. It verifies the
// signature, ignores repeats and test events, and calls the function for the kind of
// event. It answers 204 if the function returns nil, and 500 otherwise, so that the
// event is sent again. Events without a function are accepted and ignored.
type WebhookHandler struct {
	// Secrets are the signing secrets of the webhook, with whsec_. Two are needed
	// only while one of them is being replaced.
	Secrets []string
	// Handled remembers which deliveries were handled. The default keeps the last
	// 10,000 in memory.
	Handled HandledDeliveries

	// Assignment is called for assignment.created, .completed, .failed and .overdue.
	Assignment func(context.Context, Delivery, v1.Event[v1.Assignment]) error
	// Joined and Removed are called for employee.joined and employee.removed.
	Joined  func(context.Context, Delivery, v1.Event[v1.Employee]) error
	Removed func(context.Context, Delivery, v1.Event[v1.EmployeeRemoved]) error

	// Error, if set, is called with the error before a 401 or a 500 is answered.
	Error func(error, Delivery)

	recent recentDeliveries
}

func (h *WebhookHandler) report(err error, d Delivery) {
	if h.Error != nil {
		h.Error(err, d)
	}
}

// HandledDeliveries remembers which deliveries have been handled.
type HandledDeliveries interface {
	Has(ctx context.Context, deliveryID string) (bool, error)
	Add(ctx context.Context, deliveryID string) error
}

const (
	// longestWebhook bounds the body of a webhook request.
	longestWebhook = 1 << 20
	// signatureAge is how far the signed time may be from now.
	signatureAge = 5 * time.Minute
)

func (h *WebhookHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longestWebhook))
	if err != nil {
		http.Error(w, "The body could not be read.", http.StatusBadRequest)
		return
	}
	d := deliveryOf(r.Header)
	if err := Verify(r.Header, body, time.Now(), h.Secrets...); err != nil {
		h.report(err, d)
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	if r.Header.Get("X-Service-Test") == "true" { // it reports nothing that happened
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if err := h.handle(r.Context(), d, body); err != nil {
		h.report(err, d)
		http.Error(w, "The event could not be handled.", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func deliveryOf(header http.Header) Delivery {
	d := Delivery{ID: header.Get("webhook-id")} // signed, and the same as X-Service-Delivery
	d.Sequence, _ = strconv.ParseInt(header.Get("X-Service-Sequence"), 10, 64)
	d.Attempt, _ = strconv.Atoi(header.Get("X-Service-Attempt"))
	return d
}

func (h *WebhookHandler) handle(ctx context.Context, d Delivery, body []byte) error {
	handled := h.Handled
	if handled == nil {
		handled = &h.recent
	}
	if repeated, err := handled.Has(ctx, d.ID); err != nil || repeated {
		return err
	}
	if err := h.dispatch(ctx, d, body); err != nil {
		return err
	}
	return handled.Add(ctx, d.ID)
}

func (h *WebhookHandler) dispatch(ctx context.Context, d Delivery, body []byte) error {
	var kind struct{ Event v1.EventKind }
	if err := json.Unmarshal(body, &kind); err != nil {
		return fmt.Errorf("read the event: %w", err)
	}
	switch {
	case kind.Event == "employee.joined":
		return handleEvent(ctx, d, body, h.Joined)
	case kind.Event == "employee.removed":
		return handleEvent(ctx, d, body, h.Removed)
	case strings.HasPrefix(string(kind.Event), "assignment."):
		return handleEvent(ctx, d, body, h.Assignment)
	}
	return nil
}

func handleEvent[E any](ctx context.Context, d Delivery, body []byte, handle func(context.Context, Delivery, E) error) error {
	if handle == nil {
		return nil
	}
	var event E
	if err := json.Unmarshal(body, &event); err != nil {
		return fmt.Errorf("read the event: %w", err)
	}
	return handle(ctx, d, event)
}

// Verify returns an error unless the body was signed with one of the secrets
// within five minutes of now. It checks the Standard Webhooks signature, which
// also signs the time.
func Verify(header http.Header, body []byte, now time.Time, secrets ...string) error {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return errors.New("the header webhook-timestamp is missing or not a number")
	}
	if age := now.Sub(time.Unix(seconds, 0)); age.Abs() > signatureAge {
		return errors.New("the signature is more than five minutes old, or the clock is wrong")
	}
	if len(secrets) == 0 {
		return errors.New("no signing secret is set: copy it from the webhook's page in the cabinet")
	}
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) == 0 {
			return errors.New("a signing secret is not whsec_ followed by base64: copy it again from the webhook's page in the cabinet")
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(body)
		want := mac.Sum(nil)
		for _, signature := range strings.Fields(header.Get("webhook-signature")) {
			got, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signature, "v1,"))
			if err == nil && hmac.Equal(got, want) {
				return nil
			}
		}
	}
	return errors.New("the signature does not match")
}

// recentDeliveries is the default HandledDeliveries. It forgets the oldest one when
// it is full.
type recentDeliveries struct {
	mu    sync.Mutex
	ids   map[string]bool
	order []string
}

// maxRecent is how many deliveries recentDeliveries keeps.
const maxRecent = 10_000

func (m *recentDeliveries) Has(_ context.Context, id string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ids[id], nil
}

func (m *recentDeliveries) Add(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ids == nil {
		m.ids = map[string]bool{}
	}
	if !m.ids[id] {
		m.ids[id] = true
		m.order = append(m.order, id)
	}
	if len(m.order) > maxRecent {
		delete(m.ids, m.order[0])
		m.order = m.order[1:]
	}
	return nil
}
