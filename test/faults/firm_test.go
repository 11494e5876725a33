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
)

// firm is a company with a course and a token that may do everything.
type firm struct {
	database string
	company  int64
	course   int64
	tokenID  int64
	token    string
}

func newFirm(t *testing.T, database string) firm {
	t.Helper()
	f := firm{database: database}
	f.company = ask[struct{ CompanyID int64 }](t, database, "company", "create", "--name", "Acme", "--admin", "ann@acme.example").CompanyID
	f.course = ask[struct{ CourseID int64 }](t, database, "course", "add", "--company", id(f.company), "--name", "Safety").CourseID
	made := ask[struct {
		ID    int64
		Token string
	}](t, database, "token", "create", "--company", id(f.company), "--name", "faults",
		"--scope", "b2b_read", "--scope", "b2b_provision", "--scope", "b2b_assignment")
	f.tokenID, f.token = made.ID, made.Token
	return f
}

// endpoint is a webhook of a firm.
type endpoint struct {
	ID     int64
	Secret string
}

// listen adds a webhook for the events that the tests cause.
func (f firm) listen(t *testing.T, target string) endpoint {
	t.Helper()
	return ask[endpoint](t, f.database, "webhook", "add", "--company", id(f.company), "--url", target,
		"--event", "employee.joined", "--event", "assignment.created")
}

func id(n int64) string { return strconv.FormatInt(n, 10) }

// caller keeps connections apart from those of other tests.
func newCaller(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 32}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 30 * time.Second}
}

// answer is what the API said.
type answer struct {
	status int
	body   []byte
}

// call sends one request; err is a broken connection.
func (f firm) call(ctx context.Context, c *http.Client, method, address string, body any) (answer, error) {
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
	req.Header.Set("Authorization", "Bearer "+f.token)
	resp, err := c.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, got}, err
}

// must sends a request that has to succeed.
func (f firm) must(t *testing.T, c *http.Client, method, address string, body any) []byte {
	t.Helper()
	got, err := f.call(t.Context(), c, method, address, body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, address, err)
	}
	if got.status != http.StatusOK {
		t.Fatalf("%s %s: %d %s", method, address, got.status, got.body)
	}
	return got.body
}

type person struct {
	ExternalID string `json:"externalId"`
	Email      string `json:"email"`
	Name       string `json:"name"`
}

func someone(externalID string) person {
	return person{externalID, externalID + "@acme.example", "Someone " + externalID}
}

type task struct {
	Employee   string `json:"employeeExternalId"`
	Course     int64  `json:"courseId"`
	ExternalID string `json:"externalId"`
}

// join provisions a new person, and has to succeed.
func (f firm) join(t *testing.T, c *http.Client, base, externalID string) {
	t.Helper()
	f.must(t, c, http.MethodPost, base+"/api/v1/employees/provision", someone(externalID))
}

// has asks whether the person is there.
func (f firm) has(t *testing.T, c *http.Client, base, externalID string) bool {
	t.Helper()
	got, err := f.call(t.Context(), c, http.MethodGet, base+"/api/v1/employees/"+url.PathEscape(externalID), nil)
	if err != nil || got.status != http.StatusOK && got.status != http.StatusNotFound {
		t.Fatalf("look %s up: %v %d %s", externalID, err, got.status, got.body)
	}
	return got.status == http.StatusOK
}

// wantError checks an answer that must be an error of the contract.
func wantError(t *testing.T, got answer, status int, code string) {
	t.Helper()
	var body struct{ Result, Message, Code string }
	if err := json.Unmarshal(got.body, &body); err != nil {
		t.Fatalf("the error body of a %d: %q: %v", got.status, got.body, err)
	}
	if got.status != status || body.Result != "error" || body.Code != code || body.Message == "" {
		t.Errorf("got %d %s, want %d with code %s", got.status, got.body, status, code)
	}
}

// status of a path that needs no token.
func probe(c *http.Client, address string) (int, error) {
	resp, err := c.Get(address)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// eventually asks again and again until ok says so.
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

func want[T comparable](got T, err error, wanted T) error {
	if err != nil {
		return err
	}
	if got != wanted {
		return fmt.Errorf("got %v, want %v", got, wanted)
	}
	return nil
}
