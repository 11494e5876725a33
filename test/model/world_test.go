package model

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"github.com/coursebridge/coursebridge/internal/apicheck"
	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// world is a running program on one engine. Sequences share it, each with two companies
// of its own.
type world struct {
	t         *testing.T
	engine    string
	program   *apptest.Program
	client    *http.Client // holds every answer against the documents
	store     *store.Store // a second opening of the database, to read events and to sweep
	platform  string       // the platform's token
	inbox     *inbox
	companies []*company // of all sequences, in the order of their creation
	ids       map[string]bool
	sequences int
	tally     map[int]int // requests by status
}

func newWorld(t *testing.T, engine, database string) *world {
	t.Helper()
	w := &world{t: t, engine: engine, inbox: newInbox(t), ids: map[string]bool{}, tally: map[int]int{}}
	w.program = apptest.Start(t, apptest.Options{Database: database})
	w.store = storetest.Open(t, database)
	w.client = &http.Client{Transport: apicheck.NewTransport(t, http.DefaultTransport)}
	made, err := w.program.CreatePlatformToken(t.Context(), "model")
	if err != nil {
		t.Fatal(err)
	}
	w.platform = made.Token
	return w
}

// newCompany makes a company with a token for everything and a webhook for all events.
func (w *world) newCompany() *company {
	w.t.Helper()
	ctx, c := w.t.Context(), &company{name: "Company " + strconv.Itoa(len(w.companies))}
	made, err := w.program.CreateCompany(ctx, c.name, "owner@company.example", "UTC")
	if err != nil {
		w.t.Fatal(err)
	}
	c.id = made.CompanyID
	token, err := w.program.CreateToken(ctx, app.TokenInput{Company: c.id, Name: "model", Scopes: []string{"b2b_read", "b2b_provision", "b2b_assignment"}})
	if err != nil {
		w.t.Fatal(err)
	}
	c.token = token.Token
	webhook := app.WebhookInput{Company: c.id, URL: w.inbox.URL}
	for _, kind := range domain.EventKinds {
		webhook.Events = append(webhook.Events, string(kind))
	}
	if _, err := w.program.AddWebhook(ctx, webhook); err != nil {
		w.t.Fatal(err)
	}
	w.companies = append(w.companies, c)
	return c
}

// inbox receives the webhooks of all companies.
type inbox struct {
	*httptest.Server
	mu       sync.Mutex
	arrivals map[eventKey]string // the bodies
}

// eventKey names an event.
type eventKey struct{ company, sequence int64 }

func newInbox(t *testing.T) *inbox {
	t.Helper()
	in := &inbox{arrivals: map[eventKey]string{}}
	in.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ CompanyID int64 }
		text, err := io.ReadAll(r.Body)
		sequence, headerErr := strconv.ParseInt(r.Header.Get("X-Service-Sequence"), 10, 64)
		if err != nil || headerErr != nil || json.Unmarshal(text, &body) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		in.mu.Lock()
		defer in.mu.Unlock()
		key := eventKey{body.CompanyID, sequence}
		if old, ok := in.arrivals[key]; ok && old != string(text) {
			t.Errorf("event %v arrived with two bodies:\n%s\n%s", key, old, text)
		}
		in.arrivals[key] = string(text)
	}))
	t.Cleanup(in.Close)
	return in
}

func (in *inbox) body(key eventKey) (string, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	text, ok := in.arrivals[key]
	return text, ok
}
