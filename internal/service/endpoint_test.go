package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/delivery"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/secret"
	"github.com/coursebridge/coursebridge/internal/service"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// webhooksFixture is the use cases around webhooks on a real store, with a real sender.
type webhooksFixture struct {
	*service.Webhooks
	t *testing.T
	s *store.Store
	c domain.Caller
}

func newWebhooksFixture(t *testing.T, s *store.Store, guard delivery.Guard) *webhooksFixture {
	t.Helper()
	box, err := secret.Open(t.Context(), s, secret.Options{Key: "a passphrase for tests"})
	if err != nil {
		t.Fatal(err)
	}
	sender := delivery.NewSender(delivery.Config{Guard: guard})
	t.Cleanup(sender.Close)
	w := service.NewWebhooks(s, sender, box, service.WebhookOptions{Log: slog.New(slog.DiscardHandler)})
	return &webhooksFixture{w, t, s, storetest.Company(t, s, t.Name())}
}

var anywhere = delivery.Guard{AllowPrivate: true, AllowHTTP: true}

func (h *webhooksFixture) add(url string) (domain.Endpoint, string) {
	h.t.Helper()
	e, key, err := h.Add(h.t.Context(), h.c, domain.EndpointInput{URL: url, Events: []domain.EventKind{domain.EventEmployeeJoined}})
	if err != nil {
		h.t.Fatalf("add: %v", err)
	}
	return e, key
}

func (h *webhooksFixture) hire(prefix string, n int) {
	h.t.Helper()
	for i := range n {
		id := fmt.Sprintf("%s%d", prefix, i)
		_, _, err := h.s.Provision(h.t.Context(), h.c, domain.Provision{ExternalID: id, Email: id + "@x.test", Name: id})
		if err != nil {
			h.t.Fatalf("provision: %v", err)
		}
	}
}

func (h *webhooksFixture) exec(sql string, args ...any) {
	h.t.Helper()
	err := h.s.Engine().Write(h.t.Context(), func(tx db.Tx) error {
		_, err := tx.Exec(h.t.Context(), sql, args...)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// audited counts the company's audit entries of an action.
func (h *webhooksFixture) audited(action string) int {
	h.t.Helper()
	n := 0
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&n) },
		`SELECT count(*) FROM audit_entries WHERE company_id = $1 AND action = $2 AND actor_label = 'test'`, h.c.Company.ID, action)
	if err := h.s.Engine().Read(h.t.Context(), func(c db.Conn) error { return c.Send(h.t.Context(), b) }); err != nil {
		h.t.Fatal(err)
	}
	return n
}

func refused(t *testing.T, err error, want domain.Code) {
	t.Helper()
	if err == nil || domain.CodeOf(err) != want {
		t.Errorf("error %v, want the code %s", err, want)
	}
}

func TestWebhookTargetsAreChecked(t *testing.T) {
	t.Parallel()
	h := newWebhooksFixture(t, storetest.Open(t, storetest.SQLite(t)), delivery.Guard{})
	for _, row := range []struct{ url, field, says string }{
		{"", "url", "empty"},
		{"http://hooks.example.com", "url", "https"},
		{"https://127.0.0.1/in", "url", "public"},
		{"https://[::ffff:10.0.0.1]/in", "url", "public"},
		{"https://169.254.169.254/latest", "url", "public"},
		{"ftp://x.example.com", "url", "https"},
	} {
		_, _, err := h.Add(t.Context(), h.c, domain.EndpointInput{URL: row.url, Events: domain.EventKinds})
		refused(t, err, domain.CodeInvalid)
		if err == nil || !strings.Contains(err.Error(), row.field+": ") || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", row.url, err)
		}
	}
	_, _, err := h.Add(t.Context(), h.c, domain.EndpointInput{URL: "https://192.0.2.1.example.com", Events: []domain.EventKind{"no.such"}})
	refused(t, err, domain.CodeInvalid)
	// A name that does not resolve yet can be saved.
	if _, _, err := h.Add(t.Context(), h.c, domain.EndpointInput{URL: "https://hooks.invalid/in", Events: domain.EventKinds}); err != nil {
		t.Errorf("a name of tomorrow: %v", err)
	}
}

func TestWebhookSecretIsSealed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newWebhooksFixture(t, s, anywhere)
		e, first := h.add("https://hooks.example.com")
		if !strings.HasPrefix(first, "whsec_") || strings.Contains(string(e.Secret), "whsec_") {
			t.Errorf("secret %q, sealed as %q", first, e.Secret)
		}
		if got, err := h.RevealSecret(t.Context(), h.c, e.ID); err != nil || got != first {
			t.Errorf("revealed %q, %v", got, err)
		}
		e, second, err := h.Rotate(t.Context(), h.c, e.ID)
		if err != nil || second == first || !e.Rotating(s.Now()) {
			t.Errorf("rotated: %+v, %v", e, err)
		}
		if got, err := h.RevealSecret(t.Context(), h.c, e.ID); err != nil || got != second {
			t.Errorf("revealed after the rotation %q, %v", got, err)
		}
		for action, want := range map[string]int{"webhook.added": 1, "webhook.secret_revealed": 2, "webhook.secret_rotated": 1} {
			if got := h.audited(action); got != want {
				t.Errorf("%d entries of %s, want %d", got, action, want)
			}
		}
	})
}

func TestWebhookIsTested(t *testing.T) {
	t.Parallel()
	var request atomic.Pointer[http.Request]
	var body atomic.Pointer[[]byte]
	var status atomic.Int64
	status.Store(http.StatusTeapot)
	to := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		read, _ := io.ReadAll(r.Body)
		request.Store(r)
		body.Store(&read)
		w.WriteHeader(int(status.Load()))
	}))
	t.Cleanup(to.Close)
	h := newWebhooksFixture(t, storetest.Open(t, storetest.SQLite(t)), anywhere)
	e, _ := h.add(to.URL)
	attempt, err := h.Test(t.Context(), h.c, e.ID, domain.EventAssignmentFailed)
	if err != nil || attempt.StatusCode != http.StatusTeapot || attempt.ErrorKind != "status" || attempt.Error == "" {
		t.Errorf("attempt %+v, %v", attempt, err)
	}
	header := request.Load().Header
	if header.Get("X-Service-Test") != "true" || header.Get("X-Service-Event") != "assignment.failed" || header.Get("X-Service-Signature") == "" {
		t.Errorf("header %v", header)
	}
	var sent map[string]any
	if err := json.Unmarshal(*body.Load(), &sent); err != nil || len(sent) != 4 || sent["event"] != "assignment.failed" {
		t.Errorf("body %s, %v", *body.Load(), err)
	}

	if _, err := h.Disable(t.Context(), h.c, e.ID); err != nil {
		t.Fatal(err)
	}
	e, _, err = h.Enable(t.Context(), h.c, e.ID, false)
	refused(t, err, domain.CodeInvalid)
	if e.Enabled() {
		t.Error("enabled after a failed test")
	}
	if e, _, err = h.Enable(t.Context(), h.c, e.ID, true); err != nil || !e.Enabled() {
		t.Errorf("enabled by force: %+v, %v", e, err)
	}
	if _, err := h.Disable(t.Context(), h.c, e.ID); err != nil {
		t.Fatal(err)
	}
	status.Store(http.StatusNoContent)
	if e, attempt, err = h.Enable(t.Context(), h.c, e.ID, false); err != nil || !e.Enabled() || attempt.StatusCode != http.StatusNoContent {
		t.Errorf("enabled after a test: %+v, %+v, %v", e, attempt, err)
	}
	_, err = h.Test(t.Context(), h.c, e.ID, "no.such")
	refused(t, err, domain.CodeInvalid)
	_, err = h.Test(t.Context(), h.c, e.ID+1, "")
	refused(t, err, domain.CodeNotFound)
	log, err := h.Deliveries(t.Context(), h.c, domain.DeliveryFilter{}, nil, 10)
	if err != nil || len(log.Items) != 3 || !log.Items[0].Test || log.Items[0].State != domain.DeliveryDelivered || log.Items[2].State != domain.DeliveryFailed {
		t.Errorf("the delivery log holds %+v, %v", log.Items, err)
	}
	refused(t, h.Redeliver(t.Context(), h.c, log.Items[2].ID), domain.CodeInvalid)
	from, until := e.CreatedAt.Add(-time.Minute), h.s.Now()
	again := domain.RedeliveryFilter{States: []domain.DeliveryState{domain.DeliveryFailed}, From: &from, To: &until}
	if n, err := h.CountRedeliver(t.Context(), h.c, again); n != 0 || err != nil {
		t.Errorf("%d test events would be redelivered, %v", n, err)
	}
	if n := h.audited("webhook.tested"); n != 3 {
		t.Errorf("%d tests in the audit log, want 3", n)
	}
}

func TestSampleBodies(t *testing.T) {
	t.Parallel()
	h := newWebhooksFixture(t, storetest.Open(t, storetest.SQLite(t)), anywhere)
	for _, kind := range domain.EventKinds {
		body, err := h.SampleBody(h.c, kind)
		var got struct {
			Event     domain.EventKind
			CompanyID int64
			Data      map[string]any
		}
		if err == nil {
			err = json.Unmarshal(body, &got)
		}
		if err != nil || got.Event != kind || got.CompanyID != h.c.Company.ID || len(got.Data) < 3 {
			t.Errorf("%s: %s, %v", kind, body, err)
		}
	}
	_, err := h.SampleBody(h.c, "no.such")
	refused(t, err, domain.CodeInvalid)
}

func TestWebhookHoldsAndSendsAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newWebhooksFixture(t, s, anywhere)
		e, _ := h.add("https://hooks.example.com")
		h.hire("before", 3)
		if _, err := h.Disable(t.Context(), h.c, e.ID); err != nil {
			t.Fatal(err)
		}
		h.hire("while", 202) // more than one step
		held := domain.DeliveryFilter{State: domain.DeliveryHeld}
		if page, err := h.Deliveries(t.Context(), h.c, held, nil, 500); err != nil || len(page.Items) != 205 {
			t.Fatalf("%d are held, %v", len(page.Items), err)
		}
		f := domain.RedeliveryFilter{EndpointID: e.ID}
		_, err := h.CountRedeliver(t.Context(), h.c, f)
		refused(t, err, domain.CodeInvalid) // it is disabled still
		if _, _, err := h.Enable(t.Context(), h.c, e.ID, true); err != nil {
			t.Fatal(err)
		}
		if n, err := h.CountRedeliver(t.Context(), h.c, f); err != nil || n != 205 {
			t.Errorf("would send %d, %v", n, err)
		}
		job, err := h.RedeliverRange(t.Context(), h.c, f)
		if err != nil {
			t.Fatal(err)
		}
		if job = h.finish(job); job.Done != 205 || job.Total != 205 || job.RequestedBy != "test" {
			t.Errorf("job %+v", job)
		}
		if page, err := h.Deliveries(t.Context(), h.c, domain.DeliveryFilter{State: domain.DeliveryPending}, nil, 500); err != nil || len(page.Items) != 205 {
			t.Errorf("%d are pending, %v", len(page.Items), err)
		}
		if n := h.audited("delivery.range_redelivered"); n != 1 {
			t.Errorf("%d entries in the audit log", n)
		}
	})
}

// finish does the background work until the redelivery is done.
func (h *webhooksFixture) finish(job domain.Redelivery) domain.Redelivery {
	h.t.Helper()
	woken := make(chan struct{}, 100)
	h.s.OnDeliveries(func([]domain.EndpointKey) { woken <- struct{}{} })
	ctx, cancel := context.WithCancel(h.t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); h.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	for job.FinishedAt == nil {
		select {
		case <-woken:
		case <-time.After(20 * time.Second):
			h.t.Fatal("the redelivery did not end")
		}
		var err error
		if job, err = h.RedeliveryJob(h.t.Context(), h.c, job.ID); err != nil {
			h.t.Fatal(err)
		}
	}
	return job
}

func TestRedeliveryGoesOnAfterACrash(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newWebhooksFixture(t, s, anywhere)
		e, _ := h.add("https://hooks.example.com")
		h.hire("e", 5)
		h.exec(`UPDATE deliveries SET state = 'failed' WHERE company_id = $1`, h.c.Company.ID)
		f := domain.RedeliveryFilter{EndpointID: e.ID}
		left, err := h.RedeliverRange(t.Context(), h.c, f)
		if err != nil {
			t.Fatal(err)
		}
		if finished, err := s.ContinueRedelivery(t.Context(), h.c.Company.ID, left.ID, 2); finished || err != nil {
			t.Fatalf("finished %v, %v", finished, err)
		}
		if left = h.finish(left); left.Done != 5 {
			t.Errorf("what was left undone: %+v", left)
		}
	})
}

// expiring reports when a round of retention is over.
type expiring struct {
	*store.Store
	over chan struct{}
}

func (e *expiring) DropLease(ctx context.Context, name, owner string) error {
	err := e.Store.DropLease(ctx, name, owner)
	if name == "retention" {
		close(e.over)
	}
	return err
}

func TestExpiredEventsAreRemoved(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		h := newWebhooksFixture(t, s, anywhere)
		h.add("https://hooks.example.com")
		h.hire("e", 130) // more than one step
		h.exec(`UPDATE deliveries SET state = 'held' WHERE company_id = $1`, h.c.Company.ID)
		h.exec(`UPDATE events SET occurred_at = $1 WHERE company_id = $2 AND external_id <> 'e7'`,
			s.Now().Add(-s.RowRetention(30*24*time.Hour)-time.Hour), h.c.Company.ID)
		kept := &expiring{s, make(chan struct{})}
		w := service.NewWebhooks(kept, nil, nil, service.WebhookOptions{Log: slog.New(slog.DiscardHandler)})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); w.Run(ctx) }()
		select {
		case <-kept.over:
		case <-time.After(20 * time.Second):
			t.Error("retention did not end")
		}
		cancel()
		<-ended
		page, err := h.Deliveries(t.Context(), h.c, domain.DeliveryFilter{}, nil, 500)
		if err != nil || len(page.Items) != 1 || page.Items[0].ExternalID != "e7" {
			t.Errorf("%d deliveries are left, %v; want the young one", len(page.Items), err)
		}
	})
}

func TestDeliveriesAreAskedForWithSense(t *testing.T) {
	t.Parallel()
	h := newWebhooksFixture(t, storetest.Open(t, storetest.SQLite(t)), anywhere)
	for name, ask := range map[string]struct {
		filter domain.DeliveryFilter
		limit  int
	}{
		"state": {domain.DeliveryFilter{State: "lost"}, 10}, "event": {domain.DeliveryFilter{Kind: "no.such"}, 10},
		"limit": {domain.DeliveryFilter{}, 501},
	} {
		_, err := h.Deliveries(t.Context(), h.c, ask.filter, nil, ask.limit)
		refused(t, err, domain.CodeInvalid)
		if err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := h.CountRedeliver(t.Context(), h.c, domain.RedeliveryFilter{States: []domain.DeliveryState{domain.DeliveryPending}})
	refused(t, err, domain.CodeInvalid)
}
