package contract_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// webhook is a webhook of a company with its receiver.
type webhook struct {
	company  *company
	id       int64
	secret   string
	arrived  chan delivery
	known    map[string]bool // deliveries that rows have accounted for
	expected int
}

// delivery is one request to a receiver.
type delivery struct {
	header http.Header
	body   []byte
	event  object
}

// subscribe starts a receiver of the company's events.
func (f *company) subscribe(t *testing.T) *webhook {
	t.Helper()
	h := &webhook{company: f, arrived: make(chan delivery, 4096), known: map[string]bool{}}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			h.arrived <- delivery{header: r.Header, body: body}
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(receiver.Close)
	var kinds []string
	for _, k := range domain.EventKinds {
		kinds = append(kinds, string(k))
	}
	made, err := f.suite.AddWebhook(t.Context(), app.WebhookInput{Company: f.id, URL: receiver.URL + "/hook", Description: "contract", Events: kinds})
	if err != nil {
		t.Fatal(err)
	}
	h.id, h.secret = made.ID, made.Secret
	f.webhook = h
	return h
}

// newDeliveries returns the deliveries since the last call, oldest first. They are
// written in the transaction of the change, so there is no need to wait.
func (h *webhook) newDeliveries(t *testing.T) (fresh []app.DeliveryLine) {
	t.Helper()
	for after := ""; ; {
		page, err := h.company.suite.ListDeliveries(t.Context(), h.company.id, app.DeliveryQuery{Webhook: h.id, Limit: 500, After: after})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range page.Deliveries {
			if !h.known[d.ID] {
				fresh = append(fresh, d)
			}
		}
		if after = page.Next; after == "" {
			break
		}
	}
	slices.SortFunc(fresh, func(a, b app.DeliveryLine) int { return cmp.Compare(a.ID, b.ID) })
	return fresh
}

// wantEvents checks that exactly these kinds were emitted since the last call.
// Overdue events are checked separately, because they depend on the time.
func (h *webhook) wantEvents(t *testing.T, what, kinds string) {
	t.Helper()
	var got []string
	for _, d := range h.newDeliveries(t) {
		if d.Event == string(domain.EventAssignmentOverdue) && !strings.Contains(kinds, d.Event) {
			continue
		}
		h.known[d.ID] = true
		got = append(got, d.Event)
	}
	want := strings.Fields(kinds)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: emitted %v, want %v", what, got, want)
	}
	h.expected += len(got)
}

// eventTimeout is how long a test waits for an event that must arrive.
const eventTimeout = time.Minute

// nextDelivery waits for a delivery and validates it against the contract.
func (h *webhook) nextDelivery(t *testing.T) delivery {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), eventTimeout)
	defer cancel()
	select {
	case d := <-h.arrived:
		d.event = h.check(t, d)
		return d
	case <-ctx.Done():
		t.Fatal("no delivery arrived")
		return delivery{}
	}
}

func (h *webhook) check(t *testing.T, d delivery) object {
	t.Helper()
	kind := d.header.Get("X-Service-Event")
	schema := h.company.suite.public.Events[kind]
	if schema == nil {
		t.Fatalf("an event of kind %q arrived", kind)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(d.body))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(parsed); err != nil {
		t.Errorf("%s: %v\n%s", kind, err, d.body)
	}
	mac := hmac.New(sha256.New, []byte(h.secret))
	mac.Write(d.body)
	if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); d.header.Get("X-Service-Signature") != want {
		t.Errorf("%s: signature %s, want %s", kind, d.header.Get("X-Service-Signature"), want)
	}
	if id, err := uuid.Parse(d.header.Get("X-Service-Delivery")); err != nil || id.Version() != 7 {
		t.Errorf("%s: X-Service-Delivery %q is no UUIDv7", kind, d.header.Get("X-Service-Delivery"))
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "X-Service-Attempt": "1", "webhook-id": d.header.Get("X-Service-Delivery"),
	} {
		if got := d.header.Get(name); got != want {
			t.Errorf("%s: %s is %q, want %q", kind, name, got, want)
		}
	}
	for _, name := range []string{"User-Agent", "webhook-timestamp", "webhook-signature"} {
		if d.header.Get(name) == "" {
			t.Errorf("%s: no %s", kind, name)
		}
	}
	return parsed.(object)
}
