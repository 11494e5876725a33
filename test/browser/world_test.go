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

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
)

const password = "four unrelated words here"

// options let one see a delivery wait, and act before the next attempt.
var options = apptest.Options{Serve: func(c *app.ServeConfig) { c.Webhooks.RetryDelays = "10m,10m,10m,10m,10m" }}

// each starts the program once per engine, with a company.
func each(t *testing.T, fn func(t *testing.T, w *world)) {
	t.Helper()
	apptest.Each(t, options, func(t *testing.T, p *apptest.Program) { fn(t, found(t, p)) })
}

// found makes the company.
func found(t *testing.T, p *apptest.Program) *world {
	t.Helper()
	company, err := p.CreateCompany(t.Context(), "Baltic Freight", "anna@baltic.example", "Europe/Riga")
	if err != nil {
		t.Fatal(err)
	}
	return &world{T: t, program: p, company: company}
}

// world is a running program with a company.
type world struct {
	*testing.T
	program *apptest.Program
	company app.CompanyCreated
}

// enter opens a window and signs the first administrator in by the link. It
// gives nil where there is no browser.
func (w *world) enter() *tab {
	w.Helper()
	b := newTab(w.T, w.program.URL)
	if b == nil {
		return nil
	}
	link, err := url.Parse(w.company.SignInURL)
	if err != nil {
		w.Fatal(err)
	}
	b.open(link.Path)
	b.fill("input[name=password]", password)
	b.fill("input[name=repeat]", password)
	b.press("Save and continue")
	b.sees("Getting started")
	return b
}

// call uses the API and gives the status and the answer.
func (w *world) call(token, method, path string, body any) (int, map[string]any) {
	w.Helper()
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			w.Fatal(err)
		}
		sent = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(w.Context(), method, w.program.URL+"/api/v1"+path, sent)
	if err != nil {
		w.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer res.Body.Close()
	answer := map[string]any{}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		w.Fatalf("%s %s: %v", method, path, err)
	}
	return res.StatusCode, answer
}

// provision makes the n-th employee through the API.
func (w *world) provision(token string, n int) {
	w.Helper()
	status, answer := w.call(token, http.MethodPost, "/employees/provision", map[string]string{
		"externalId": fmt.Sprintf("HR-%d", n), "email": fmt.Sprintf("p%d@baltic.example", n), "name": fmt.Sprintf("Person %d", n),
	})
	if status != http.StatusOK {
		w.Fatalf("provision: %d %v", status, answer)
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
