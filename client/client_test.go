package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/client"
	"github.com/coursebridge/coursebridge/internal/apicheck"
	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
)

// world is a company of the running program and a client with every scope.
type world struct {
	*client.Client
	program *apptest.Program
	company int64
	course  int64
	token   string
}

func newWorld(t *testing.T, p *apptest.Program) world {
	t.Helper()
	made, err := p.CreateCompany(t.Context(), "Acme", "boss@acme.example", "UTC")
	if err != nil {
		t.Fatal(err)
	}
	token, err := p.CreateToken(t.Context(), app.TokenInput{
		Company: made.CompanyID, Name: "client", Scopes: []string{"b2b_read", "b2b_provision", "b2b_assignment"},
	})
	if err != nil {
		t.Fatal(err)
	}
	course, err := p.AddCourse(t.Context(), made.CompanyID, app.CourseInput{Name: "Basics", PassMark: 80, Attempts: 3, Modules: []string{"One"}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(p.URL, token.Token, client.WithRetries(3, time.Millisecond), client.WithHTTPClient(&http.Client{Transport: apicheck.NewTransport(t, http.DefaultTransport)}))
	if err != nil {
		t.Fatal(err)
	}
	return world{c, p, made.CompanyID, course.CourseID, token.Token}
}

func (w world) provision(t *testing.T, externalID string) v1.Provisioned {
	t.Helper()
	made, err := w.Provision(t.Context(), v1.ProvisionInput{ExternalID: externalID, Email: fmt.Sprintf("e%x@acme.example", externalID), Name: "Ann " + externalID})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestEveryOperation(t *testing.T) {
	t.Parallel()
	apptest.Each(t, apptest.Options{}, func(t *testing.T, p *apptest.Program) {
		ctx, w := t.Context(), newWorld(t, p)
		if token, err := w.Token(ctx); err != nil || token.Company.ID != w.company {
			t.Errorf("token: %+v, %v", token, err)
		}
		if courses, err := w.Courses(ctx); err != nil || len(courses) != 1 || courses[0].ID != w.course {
			t.Errorf("courses: %+v, %v", courses, err)
		}
		if made := w.provision(t, "a/b ü"); made.Status != "created" {
			t.Errorf("provisioned: %+v", made)
		}
		name := "Bob"
		if changed, err := w.UpdateEmployee(ctx, "a/b ü", v1.EmployeeUpdate{Name: &name}); err != nil || changed.Employee == nil || changed.Employee.Name != "Bob" {
			t.Errorf("updated: %+v, %v", changed, err)
		}
		made, err := w.Assign(ctx, v1.AssignmentInput{EmployeeExternalID: "a/b ü", CourseID: w.course, ExternalID: "a 1"})
		if err != nil || made.Status != "assigned" {
			t.Fatalf("assigned: %+v, %v", made, err)
		}
		if e, err := w.Employee(ctx, "a/b ü"); err != nil || len(e.Assignments) != 1 || e.Assignments[0].ID != made.ID {
			t.Errorf("employee: %+v, %v", e, err)
		}
		if a, err := w.Assignment(ctx, made.ID); err != nil || a.ExternalID != "a 1" {
			t.Errorf("assignment: %+v, %v", a, err)
		}
		if a, err := w.AssignmentByExternalID(ctx, "a 1"); err != nil || a.ID != made.ID {
			t.Errorf("assignment by external id: %+v, %v", a, err)
		}
		if progress, err := w.Progress(ctx, made.ID); err != nil || progress.ID != made.ID {
			t.Errorf("progress: %+v, %v", progress, err)
		}
		if results, err := w.Results(ctx, made.ID); err != nil || results.ResultSummary.CompletionState != "not_started" {
			t.Errorf("results: %+v, %v", results, err)
		}
		if progress, err := w.ProgressByExternalID(ctx, "a 1"); err != nil || progress.ID != made.ID {
			t.Errorf("progress by external id: %+v, %v", progress, err)
		}
		if results, err := w.ResultsByExternalID(ctx, "a 1"); err != nil || results.ID != made.ID {
			t.Errorf("results by external id: %+v, %v", results, err)
		}
		var report bytes.Buffer
		if err := w.ReportAssignments(ctx, "csv", client.AssignmentFilter{CourseID: w.course}, &report); err != nil || strings.Count(report.String(), "\n") != 2 {
			t.Errorf("report: %q, %v", report.String(), err)
		}
		if err := w.ReportEmployees(ctx, "csv", "", &report); err != nil {
			t.Errorf("report of employees: %v", err)
		}
		if err := w.Revoke(ctx, made.ID); err != nil {
			t.Errorf("revoke: %v", err)
		}
		inactive := false
		if changed, err := w.UpdateEmployee(ctx, "a/b ü", v1.EmployeeUpdate{Active: &inactive}); err != nil || changed.Offboarded == nil {
			t.Errorf("offboarded: %+v, %v", changed, err)
		}
		if err := w.DeleteEmployee(ctx, "a/b ü"); err != nil {
			t.Errorf("delete: %v", err)
		}
	})
}

func TestErrorsAreTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, apptest.Start(t, apptest.Options{}))
	_, err := w.Employee(t.Context(), "nobody")
	var failure *client.Error
	if client.Code(err) != "employee_not_found" || !errors.As(err, &failure) || failure.Status != 404 || failure.RequestID == "" {
		t.Errorf("got %#v", err)
	}
	_, err = w.Provision(t.Context(), v1.ProvisionInput{ExternalID: "a", Email: "none", Name: "A"})
	if !strings.Contains(err.Error(), "email") || client.Code(err) != "invalid_request" {
		t.Errorf("got %v, want the field's name", err)
	}
	if _, err := w.Employee(t.Context(), ""); err == nil || client.Code(err) != "" {
		t.Errorf("an empty external id: %v", err)
	}
}

// A list of several pages is walked as a whole, and a loop may end early.
func TestIteratorsReadAllPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, apptest.Start(t, apptest.Options{}))
	w.provision(t, "1")
	var items []v1.AssignmentInput
	for i := range 1_200 {
		items = append(items, v1.AssignmentInput{EmployeeExternalID: "1", CourseID: w.course, ExternalID: fmt.Sprint("a-", i)})
	}
	items[700].CourseID = -1
	results, err := w.AssignMany(t.Context(), items)
	if err != nil || len(results) != 1_200 || results[700].OK || results[700].Index != 700 || !results[1_199].OK {
		t.Fatalf("%d results, %v", len(results), err)
	}
	seen := map[int64]bool{}
	for a, err := range w.Assignments(t.Context(), client.AssignmentFilter{Status: "assigned"}) {
		if err != nil {
			t.Fatal(err)
		}
		seen[a.ID] = true
	}
	if len(seen) != 1_199 {
		t.Errorf("the walk saw %d assignments, want 1199", len(seen))
	}
	for range w.Employees(t.Context(), client.EmployeeFilter{ExternalID: "1"}) {
		break
	}
}

// flaky answers with a failure before it passes a request on, and loses the answer
// of every third request.
type flaky struct {
	next  http.RoundTripper
	count atomic.Int64
}

func (f *flaky) RoundTrip(r *http.Request) (*http.Response, error) {
	switch f.count.Add(1) % 3 {
	case 0:
		recorder := httptest.NewRecorder()
		recorder.Header().Set("Retry-After", "0")
		recorder.WriteHeader(http.StatusServiceUnavailable)
		return recorder.Result(), nil
	case 1:
		response, err := f.next.RoundTrip(r)
		if err == nil {
			response.Body.Close()
		}
		return nil, errors.New("the connection was lost")
	}
	return f.next.RoundTrip(r)
}

// A DELETE that was refused with a 429 did nothing, so the 404 of the next attempt is an
// error; after a 500 it is a success.
func TestNotFoundAfterARefusalIsAnError(t *testing.T) {
	t.Parallel()
	for first, isDone := range map[int]bool{http.StatusTooManyRequests: false, http.StatusInternalServerError: true} {
		statuses := []int{first, http.StatusNotFound}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(statuses[0])
			statuses = statuses[1:]
		}))
		t.Cleanup(server.Close)
		c, err := client.New(server.URL, "token", client.WithRetries(1, time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.DeleteEmployee(t.Context(), "p-1"); (err == nil) != isDone {
			t.Errorf("a 404 after a %d: %v", first, err)
		}
	}
}

func TestCallsAreRepeatedSafely(t *testing.T) {
	t.Parallel()
	w := newWorld(t, apptest.Start(t, apptest.Options{}))
	c, err := client.New(w.program.URL, w.token, client.WithRetries(4, time.Millisecond), client.WithHTTPClient(&http.Client{Transport: &flaky{next: http.DefaultTransport}}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		id := fmt.Sprint("p-", i)
		if _, err := c.Provision(t.Context(), v1.ProvisionInput{ExternalID: id, Email: id + "@acme.example", Name: id}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Assign(t.Context(), v1.AssignmentInput{EmployeeExternalID: id, CourseID: w.course, ExternalID: id}); err != nil {
			t.Fatal(err)
		}
		if err := c.DeleteEmployee(t.Context(), id); err != nil {
			t.Fatalf("delete %s: %v", id, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Token(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call returned %v", err)
	}
}

// A sync that is interrupted goes on where it was, and passes what changed since.
func TestSyncResumes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, apptest.Start(t, apptest.Options{}))
	w.provision(t, "1")
	var items []v1.AssignmentInput
	for i := range 1_100 {
		items = append(items, v1.AssignmentInput{EmployeeExternalID: "1", CourseID: w.course, ExternalID: fmt.Sprint("a-", i)})
	}
	if _, err := w.AssignMany(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	at := client.FileCheckpoint(filepath.Join(t.TempDir(), "sync.json"))
	copied, passed, stop := map[int64]v1.Assignment{}, 0, errors.New("stop")
	handle := func(_ context.Context, a v1.Assignment) error {
		if passed == 600 {
			passed++
			return stop
		}
		passed++
		copied[a.ID] = a
		return nil
	}
	if err := w.SyncAssignments(t.Context(), at, handle); !errors.Is(err, stop) {
		t.Fatalf("got %v", err)
	}
	if err := w.SyncAssignments(t.Context(), at, handle); err != nil {
		t.Fatal(err)
	}
	if len(copied) != 1_100 || passed > 1_250 {
		t.Errorf("%d assignments after %d calls, want 1100 after about 1200", len(copied), passed)
	}
	late, err := w.Assign(t.Context(), v1.AssignmentInput{EmployeeExternalID: "1", CourseID: w.course, ExternalID: "late"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.SyncAssignments(t.Context(), at, handle); err != nil {
		t.Fatal(err)
	}
	if _, ok := copied[late.ID]; !ok {
		t.Error("the second sync missed a change")
	}
}

// The handler accepts what the program sends, in each kind, once.
func TestWebhookHandler(t *testing.T) {
	t.Parallel()
	w := newWorld(t, apptest.Start(t, apptest.Options{}))
	var mu sync.Mutex
	var got []string
	note := func(text string) error {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, text)
		if len(got) == 1 {
			return errors.New("the first one fails and comes again")
		}
		return nil
	}
	h := &client.WebhookHandler{
		Joined: func(_ context.Context, d client.Delivery, e v1.Event[v1.Employee]) error {
			return note(fmt.Sprint("joined ", e.Data.ExternalID, " attempt ", d.Attempt))
		},
		Assignment: func(_ context.Context, _ client.Delivery, e v1.Event[v1.Assignment]) error {
			return note(fmt.Sprint(e.Event, " ", e.Data.ExternalID))
		},
		Removed: func(_ context.Context, _ client.Delivery, e v1.Event[v1.EmployeeRemoved]) error {
			return note(fmt.Sprint("removed ", e.Data.Reason))
		},
	}
	receiver := httptest.NewServer(h)
	t.Cleanup(receiver.Close)
	webhook, err := w.program.AddWebhook(t.Context(), app.WebhookInput{
		Company: w.company, URL: receiver.URL, StrictOrder: true, Events: []string{"employee.joined", "assignment.created", "employee.removed"},
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Secrets = []string{webhook.Secret}
	w.provision(t, "1")
	if _, err := w.Assign(t.Context(), v1.AssignmentInput{EmployeeExternalID: "1", CourseID: w.course, ExternalID: "a"}); err != nil {
		t.Fatal(err)
	}
	inactive := false
	if _, err := w.UpdateEmployee(t.Context(), "1", v1.EmployeeUpdate{Active: &inactive}); err != nil {
		t.Fatal(err)
	}
	want := "[joined 1 attempt 1 joined 1 attempt 2 assignment.created a removed offboarded]"
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		mu.Lock()
		text := fmt.Sprint(got)
		mu.Unlock()
		if text == want {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("received %s, want %s", text, want)
		}
	}
}

func TestWebhookHandlerRefusesForgeries(t *testing.T) {
	t.Parallel()
	h := &client.WebhookHandler{Secrets: []string{"whsec_c2VjcmV0"}, Joined: func(context.Context, client.Delivery, v1.Event[v1.Employee]) error {
		t.Error("a forged event was handled")
		return nil
	}}
	body := `{"event":"employee.joined"}`
	for name, header := range map[string]map[string]string{
		"unsigned":        {},
		"wrong signature": {"webhook-id": "1", "webhook-timestamp": fmt.Sprint(time.Now().Unix()), "webhook-signature": "v1,c2VjcmV0"},
		"old":             {"webhook-id": "1", "webhook-timestamp": "1500000000", "webhook-signature": "v1,c2VjcmV0"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		for k, v := range header {
			r.Header.Set(k, v)
		}
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		if answer.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, answer.Code)
		}
	}
}

// A test event reports nothing that happened, so it must not be handled, and a real
// event with the same id must be.
func TestWebhookHandlerIgnoresTestEvents(t *testing.T) {
	t.Parallel()
	handled := 0
	h := &client.WebhookHandler{Secrets: []string{exampleSecret}, Assignment: func(context.Context, client.Delivery, v1.Event[v1.Assignment]) error {
		handled++
		return nil
	}}
	for _, test := range []string{"true", ""} {
		r, answer := exampleDelivery("assignment.created"), httptest.NewRecorder()
		r.Header.Set("X-Service-Test", test)
		h.ServeHTTP(answer, r)
		if want := map[string]int{"true": 0, "": 1}[test]; answer.Code != http.StatusNoContent || handled != want {
			t.Errorf("X-Service-Test %q: status %d, %d handled, want %d", test, answer.Code, handled, want)
		}
	}
}
