package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
)

const password = "four unrelated words here"

// options make a failed delivery wait for longer than a test runs, and record requests.
var options = apptest.Options{Serve: func(c *app.ServeConfig) {
	c.Webhooks.RetryDelays = "10m,10m,10m,10m,10m"
	c.Retention.Requests = time.Hour
}}

// onEachEngine starts the program once per engine, with a company.
func onEachEngine(t *testing.T, fn func(t *testing.T, f *fixture)) {
	t.Helper()
	apptest.Each(t, options, func(t *testing.T, p *apptest.Program) { fn(t, newFixture(t, p)) })
}

// newFixture creates the company.
func newFixture(t *testing.T, p *apptest.Program) *fixture {
	t.Helper()
	company, err := p.CreateCompany(t.Context(), "Baltic Freight", "anna@baltic.example", "Europe/Riga")
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{T: t, program: p, company: company}
}

// fixture is a running program with a company.
type fixture struct {
	*testing.T
	program *apptest.Program
	company app.CompanyCreated
}

// administrator opens a browser window, signs in with the company's first sign-in link
// and chooses a password.
func (f *fixture) administrator() *tab {
	f.Helper()
	b := newTab(f.T, f.program.URL)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.PostForm(f.program.URL+f.signInPath(), url.Values{"password": {password}, "repeat": {password}})
	if err != nil {
		f.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusSeeOther {
		f.Fatalf("choose a password: %s", res.Status)
	}
	b.setCookies(res.Cookies())
	b.open("/cabinet")
	return b
}

// signInPath returns the path of the company's first sign-in link.
func (f *fixture) signInPath() string {
	f.Helper()
	link, err := url.Parse(f.company.SignInURL)
	if err != nil {
		f.Fatal(err)
	}
	return link.Path
}

// firstSignIn does what administrator does in the browser, by the link's page.
func (f *fixture) firstSignIn() *tab {
	f.Helper()
	b := newTab(f.T, f.program.URL)
	b.open(f.signInPath())
	b.fill("input[name=password]", password)
	b.fill("input[name=repeat]", password)
	b.click("Save and continue")
	b.waitForText("Getting started")
	return b
}

// call calls the public API and returns the status and the response.
func (f *fixture) call(token, method, path string, body any) (int, map[string]any) {
	f.Helper()
	return f.send(token, method, "/api/v1"+path, body)
}

// send calls either API and returns the status and the response.
func (f *fixture) send(token, method, path string, body any) (int, map[string]any) {
	f.Helper()
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			f.Fatal(err)
		}
		sent = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(f.Context(), method, f.program.URL+path, sent)
	if err != nil {
		f.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		f.Fatal(err)
	}
	defer res.Body.Close()
	answer := map[string]any{}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		f.Fatalf("%s %s: %v", method, path, err)
	}
	return res.StatusCode, answer
}

// provision creates the n-th employee through the API.
func (f *fixture) provision(token string, n int) {
	f.Helper()
	status, answer := f.call(token, http.MethodPost, "/employees/provision", map[string]string{
		"externalId": fmt.Sprintf("HR-%d", n), "email": fmt.Sprintf("p%d@baltic.example", n), "name": fmt.Sprintf("Person %d", n),
	})
	if status != http.StatusOK {
		f.Fatalf("provision: %d %v", status, answer)
	}
}

// receiver is a webhook target of the test's.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	got    []delivered
}

type delivered struct {
	header http.Header
	body   []byte
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{status: http.StatusOK}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.got = append(r.got, delivered{header: req.Header, body: body})
		status := r.status
		r.mu.Unlock()
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "answer of the receiver")
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) answer(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

func (r *receiver) events(kind string) []delivered {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []delivered
	for _, d := range r.got {
		if strings.Contains(d.header.Get("X-Service-Event"), kind) {
			out = append(out, d)
		}
	}
	return out
}
