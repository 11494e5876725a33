package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/apicheck"
)

// company is a company with a course, a token with all scopes, and an HTTP client.
type company struct {
	database string
	id       int64
	courseID int64
	tokenID  int64
	token    string
	client   *http.Client
}

func newCompany(t *testing.T, database string) company {
	t.Helper()
	return newCompanyWith(t, binary, database)
}

// newCompanyWith is newCompany for another program.
func newCompanyWith(t *testing.T, program, database string) company {
	t.Helper()
	c := company{database: database, client: newClient(t)}
	runJSONWith[struct{ Status string }](t, program, database, "migrate")
	c.id = runJSONWith[struct{ CompanyID int64 }](t, program, database, "company", "create", "--name", "Acme", "--admin", "ann@acme.example").CompanyID
	c.courseID = runJSONWith[struct{ CourseID int64 }](t, program, database, "course", "add", "--company", formatID(c.id), "--name", "Safety").CourseID
	made := runJSONWith[struct {
		ID    int64
		Token string
	}](t, program, database, "token", "create", "--company", formatID(c.id), "--name", "faults",
		"--scope", "b2b_read", "--scope", "b2b_provision", "--scope", "b2b_assignment")
	c.tokenID, c.token = made.ID, made.Token
	return c
}

// webhook is the output of the command that adds one.
type webhook struct {
	ID     int64
	Secret string
}

// addWebhook adds a webhook for the events that most tests cause.
func (c company) addWebhook(t *testing.T, target string) webhook {
	t.Helper()
	return runJSON[webhook](t, c.database, "webhook", "add", "--company", formatID(c.id), "--url", target,
		"--event", "employee.joined", "--event", "assignment.created")
}

// checkTotals checks that every kept total of the database equals what is counted.
func (c company) checkTotals(t *testing.T) {
	t.Helper()
	got := runJSON[struct{ Companies, WrongCount int }](t, c.database, "check") // it fails when a total is wrong
	if got.Companies == 0 || got.WrongCount != 0 {
		t.Errorf("coursebridge check looked at %d companies and found %d wrong totals", got.Companies, got.WrongCount)
	}
}

func formatID(n int64) string { return strconv.FormatInt(n, 10) }

// newClient returns a client that shares no connections with other tests and holds every
// answer against the documents.
func newClient(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 32}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: apicheck.NewTransport(t, transport), Timeout: 30 * time.Second}
}

// answer is a response of the API.
type answer struct {
	status int
	body   []byte
}

// send sends one request with the company's token. The error is not nil if the
// connection failed before the whole answer was read.
func (c company) send(ctx context.Context, method, address string, body any) (answer, error) {
	var sent io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return answer{}, err
		}
		sent = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, sent)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := c.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, got}, err
}

// mustSend sends a request and fails the test unless the answer is a 200.
func (c company) mustSend(t *testing.T, method, address string, body any) []byte {
	t.Helper()
	got, err := c.send(t.Context(), method, address, body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, address, err)
	}
	if got.status != http.StatusOK {
		t.Fatalf("%s %s: %d %s", method, address, got.status, got.body)
	}
	return got.body
}

type personRequest struct {
	ExternalID string `json:"externalId"`
	Email      string `json:"email"`
	Name       string `json:"name"`
}

func newPerson(externalID string) personRequest {
	return personRequest{externalID, externalID + "@acme.example", "Someone " + externalID}
}

type assignment struct {
	Employee   string `json:"employeeExternalId"`
	Course     int64  `json:"courseId"`
	ExternalID string `json:"externalId"`
}

// provision adds an employee and fails the test if that fails.
func (c company) provision(t *testing.T, base, externalID string) {
	t.Helper()
	c.mustSend(t, http.MethodPost, base+"/api/v1/employees/provision", newPerson(externalID))
}

// hasEmployee reports whether the company has an employee with the identifier.
func (c company) hasEmployee(t *testing.T, base, externalID string) bool {
	t.Helper()
	got, err := c.send(t.Context(), http.MethodGet, base+"/api/v1/employees/"+url.PathEscape(externalID), nil)
	if err != nil || got.status != http.StatusOK && got.status != http.StatusNotFound {
		t.Fatalf("look up %s: %v %d %s", externalID, err, got.status, got.body)
	}
	return got.status == http.StatusOK
}

// wantError checks that an answer is an error as the contract describes it.
func wantError(t *testing.T, got answer, status int, code string) {
	t.Helper()
	var body struct{ Result, Message, Code string }
	if err := json.Unmarshal(got.body, &body); err != nil {
		t.Fatalf("body of a %d is not an error: %q: %v", got.status, got.body, err)
	}
	if got.status != status || body.Result != "error" || body.Code != code || body.Message == "" {
		t.Errorf("got %d %s, want %d with code %s", got.status, got.body, status, code)
	}
}

// probe returns the status of a path that needs no token.
func probe(c *http.Client, address string) (int, error) {
	resp, err := c.Get(address)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// eventually calls ok until it returns nil, and returns how long that took.
func eventually(t *testing.T, within time.Duration, what string, ok func() error) time.Duration {
	t.Helper()
	began := time.Now()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ok()
		if err == nil {
			return time.Since(began)
		}
		if time.Since(began) > within {
			t.Fatalf("%s: not within %s: %v", what, within, err)
		}
		<-tick.C
	}
}

func expect[T comparable](got T, err error, wanted T) error {
	if err != nil {
		return err
	}
	if got != wanted {
		return fmt.Errorf("got %v, want %v", got, wanted)
	}
	return nil
}
