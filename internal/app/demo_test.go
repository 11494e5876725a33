package app

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/demo"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/pgtest"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func eachDatabase(t *testing.T, test func(t *testing.T, database string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); test(t, storetest.SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); test(t, pgtest.URL(t)) })
}

// emptyCompany creates the demo's company in an empty database.
func emptyCompany(t *testing.T, database string) (*App, domain.Caller) {
	t.Helper()
	ctx := t.Context()
	a, err := Open(ctx, Config{Database: database, Create: true, LogTo: io.Discard, LogLevel: slog.LevelError.String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	company, err := a.CreateCompany(ctx, "Northwind Energy", demoAdmin, "Europe/Riga")
	if err != nil {
		t.Fatal(err)
	}
	caller, err := a.caller(ctx, company.CompanyID)
	if err != nil {
		t.Fatal(err)
	}
	return a, caller
}

// seededCompany fills an empty database as the demo does.
func seededCompany(t *testing.T, database string, size demo.Options) (*App, domain.Caller, demo.Progress) {
	t.Helper()
	a, caller := emptyCompany(t, database)
	var last demo.Progress
	if err := demo.New(a.learning, a.store, caller, size).Populate(t.Context(), func(p demo.Progress) { last = p }); err != nil {
		t.Fatal(err)
	}
	return a, caller, last
}

func allAssignments(t *testing.T, a *App, caller domain.Caller) []domain.Assignment {
	t.Helper()
	page, err := a.learning.Assignments(t.Context(), caller, domain.AssignmentFilter{}, domain.PageRequest{Number: 1, Limit: domain.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	return page.Items
}

// Nobody joins after an assignment or begins before it, the history of an assignment
// has the same instants, and every month of the past year has something in it.
func TestHistoryOfTheDemoIsConsistent(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, database string) {
		a, caller, _ := seededCompany(t, database, NewDemoConfig(0, 0, 0).Options)
		joined := map[string]time.Time{}
		people, err := a.learning.Employees(t.Context(), caller, domain.EmployeeFilter{}, domain.PageRequest{Number: 1, Limit: domain.MaxLimit})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range people.Items {
			joined[e.ExternalID] = e.JoinedAt
		}
		months, statuses := map[time.Month]bool{}, map[domain.Status]int{}
		for _, x := range allAssignments(t, a, caller) {
			last := joined[x.EmployeeExternalID]
			for _, at := range []*time.Time{&x.AssignedAt, x.StartedAt, x.CompletedAt} {
				if at == nil {
					continue
				}
				if at.Before(last) {
					t.Errorf("%s: %s comes after %s", x.ExternalID, last, *at)
				}
				last = *at
			}
			statuses[x.Status]++
			if x.CompletedAt != nil {
				months[x.CompletedAt.Month()] = true
			}
		}
		if len(months) != 12 || len(statuses) < 4 {
			t.Errorf("assignments ended in %d months with statuses %v, want 12 months and four statuses", len(months), statuses)
		}
		if totals, err := a.Check(t.Context(), false); err != nil || len(totals.Wrong) > 0 {
			t.Errorf("the kept totals differ from the records: %+v %v", totals, err)
		}
	})
}

// The same seed makes the same company, of the chosen size; another seed another one.
func TestSeedRepeatsTheDemo(t *testing.T) {
	t.Parallel()
	type line struct {
		ExternalID, Employee, Course string
		Status                       domain.Status
		Age                          time.Duration
	}
	fill := func(t *testing.T, database string, seed uint64) []line {
		size := demo.Options{Employees: 30, Assignments: 100, RandomSeed: seed}
		a, caller, wrote := seededCompany(t, database, size)
		if wrote.Done != 130 || wrote.Total != 130 || wrote.Rows < 250 {
			t.Errorf("the progress ended with %+v, want 130 of 130", wrote)
		}
		var out []line
		for _, x := range allAssignments(t, a, caller) {
			out = append(out, line{x.ExternalID, x.EmployeeName, x.CourseName, x.Status, x.Deadline.Sub(x.AssignedAt).Round(24 * time.Hour)})
		}
		return out
	}
	first := fill(t, storetest.SQLite(t), 7)
	if len(first) != 100 {
		t.Errorf("there are %d assignments, want 100", len(first))
	}
	if diff := cmp.Diff(first, fill(t, pgtest.URL(t), 7)); diff != "" {
		t.Errorf("the same seed on the other engine differs (-first +second):\n%s", diff)
	}
	if cmp.Equal(first, fill(t, storetest.SQLite(t), 8)) {
		t.Error("another seed made the same company")
	}
}

func demoServeConfig() ServeConfig {
	return ServeConfig{
		Listen: []string{"127.0.0.1:0"}, ReportTimeout: time.Minute,
		Webhooks:  WebhookConfig{RetryDelays: "1m", Timeout: 10 * time.Second},
		Retention: Retention{Events: time.Hour},
	}
}

// startDemo runs the demo until the test ends and returns what it printed.
func startDemo(t *testing.T, database string, opened chan string) DemoStarted {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	started, ended := make(chan DemoStarted, 1), make(chan error, 1)
	dc := NewDemoConfig(10, 0, 0)
	dc.Keep = true
	go func() {
		ended <- Demo(ctx, Config{Database: database, LogTo: io.Discard, LogLevel: "error"},
			demoServeConfig(), dc, DemoOutput{
				Progress: io.Discard, Started: func(d DemoStarted) error { started <- d; return nil },
				Open: func(url string) error { opened <- url; return nil },
			})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case d := <-started:
		return d
	case err := <-ended:
		ended <- nil
		t.Fatalf("the demo ended: %v", err)
	}
	return DemoStarted{}
}

// The charts of webhooks, which show the last day, have a shape when the demo starts, and
// the events are those of assignments that exist.
func TestWebhooksOfTheDemoHaveAPast(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, database string) {
		ctx := t.Context()
		a, caller := emptyCompany(t, database)
		w := demo.New(a.learning, a.store, caller, NewDemoConfig(0, 0, 0).Options)
		if err := w.Populate(ctx, func(demo.Progress) {}); err != nil {
			t.Fatal(err)
		}
		var endpoints []demo.Endpoint
		if err := a.demoReceive(ctx, caller.Company.ID, &demo.Inbox{}, func(added []demo.Endpoint) error {
			endpoints = added
			return w.AddLastDay(ctx, added)
		}); err != nil {
			t.Fatal(err)
		}
		health, err := a.store.EndpointHealth(ctx, caller.Company.ID, 0, time.Now().Add(-domain.HealthWindow))
		if err != nil || len(health) != len(endpoints) {
			t.Fatalf("%d of %d webhooks have deliveries: %v", len(health), len(endpoints), err)
		}
		for i, least := range []int{10, 5, 2} {
			hours := 0
			for _, h := range health[i].Hours {
				if h.Delivered+h.Failed > 0 {
					hours++
				}
			}
			if fails := i == 2; hours < least || fails != (health[i].Failed > 0) || fails == (health[i].Delivered > 0) {
				t.Errorf("webhook %d has deliveries in %d hours, want %d or more: %+v", i, hours, least, health[i])
			}
		}
	})
}

// The demo's link signs in without asking, as often as it is opened; webhooks arrive
// at the receiver, which verifies them; a database with a company is refused.
func TestDemo(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, database string) {
		opened := make(chan string, 1)
		d := startDemo(t, database, opened)
		if got := <-opened; got != d.SignInURL {
			t.Errorf("the browser was opened at %s, want %s", got, d.SignInURL)
		}
		for range 2 {
			jar, _ := cookiejar.New(nil)
			if status, body := fetch(t, &http.Client{Jar: jar}, d.SignInURL); status != http.StatusOK || !strings.Contains(body, "Needs attention") {
				t.Errorf("the sign-in link led to %d: %s", status, body)
			}
		}
		wrong := d.SignInURL[:len(d.SignInURL)-1] + "-"
		if status, _ := fetch(t, http.DefaultClient, wrong); status != http.StatusNotFound {
			t.Errorf("a wrong link is answered with %d, want 404", status)
		}
		var page string
		for patience := time.After(time.Minute); !strings.Contains(page, "Signature valid") || !strings.Contains(page, "500 Internal Server Error"); {
			select {
			case <-patience:
				t.Fatalf("the receiver does not show a valid webhook and a refused one:\n%s", page)
			case <-time.After(20 * time.Millisecond):
			}
			_, page = fetch(t, http.DefaultClient, d.ReceiverURL)
		}
		if strings.Contains(page, "not valid") {
			t.Errorf("a signature is not valid:\n%s", page)
		}
		if _, part := fetch(t, http.DefaultClient, d.ReceiverURL+"?after=1000000"); strings.Contains(part, "received-") || !strings.Contains(part, `hx-get`) {
			t.Errorf("an update without news is %s", part)
		}
		again := Demo(t.Context(), Config{Database: database, LogTo: io.Discard, LogLevel: "error"},
			demoServeConfig(),
			DemoConfig{Options: demo.Options{Employees: 1}, Keep: true}, DemoOutput{Progress: io.Discard})
		if again == nil || !strings.Contains(again.Error(), "already has a company") {
			t.Errorf("a second demo on the same database ended with %v", again)
		}
	})
}

func fetch(t *testing.T, client *http.Client, address string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// A terminal shows a bar in one line; elsewhere there is a line every five seconds.
func TestDemoProgress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		terminal bool
		want     string
	}{
		"terminal": {true, "\r" + strings.Repeat("█", 15) + strings.Repeat("░", 15) + "  50%  800 rows/s" +
			"\r" + strings.Repeat("█", 30) + " 100%  1,000 rows/s\nWrote 3,000 employees and assignments, 6,000 rows, in 6.0 s (1,000 rows/s).\n"},
		"elsewhere": {false, "Preparing the company.\nWrote 1,500 of 3,000 employees and assignments.\n" +
			"Wrote 3,000 employees and assignments, 6,000 rows, in 6.0 s (1,000 rows/s).\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			p := DemoOutput{Progress: &out, Terminal: c.terminal}.newProgress()
			now := p.started
			p.now = func() time.Time { return now }
			now = now.Add(5 * time.Second)
			p.show(demo.Progress{Done: 1500, Total: 3000, Rows: 4000})
			now = now.Add(time.Second)
			p.show(demo.Progress{Done: 3000, Total: 3000, Rows: 6000})
			p.end()
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("the progress differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDemoSizeIsChecked(t *testing.T) {
	t.Parallel()
	for _, size := range []demo.Options{{Employees: -1}, {Employees: 10_000_001}, {Employees: 1, Assignments: -1}, {Employees: 1, Assignments: 5001}} {
		if size.Check() == nil {
			t.Errorf("%+v was accepted", size)
		}
	}
}
