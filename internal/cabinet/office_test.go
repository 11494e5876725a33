package cabinet_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

const (
	password = "four unrelated words here"
	admin    = "anna@baltic.example"
)

// office is a running program with a company and what its pages are asked with.
type office struct {
	*testing.T
	program *apptest.Program
	company app.CompanyCreated
}

// each starts the program once per engine, with a company.
func each(t *testing.T, fn func(o office)) {
	t.Helper()
	eachWith(t, apptest.Options{}, fn)
}

func eachWith(t *testing.T, options apptest.Options, fn func(o office)) {
	t.Helper()
	apptest.Each(t, options, func(t *testing.T, p *apptest.Program) {
		o := office{T: t, program: p}
		o.company = o.found("Baltic Freight", admin)
		fn(o)
	})
}

// slowRetries leaves a failed delivery waiting for longer than a test lasts.
func slowRetries(c *app.ServeConfig) { c.Webhooks.RetryDelays = "10m,10m,10m,10m,10m" }

// oneTry gives a delivery up after its first attempts, which follow at once.
func oneTry(c *app.ServeConfig) { c.Webhooks.RetryDelays = "1ms,1ms,1ms,1ms,1ms" }

func (o office) found(name, email string) app.CompanyCreated {
	o.Helper()
	company, err := o.program.CreateCompany(o.Context(), name, email, "Europe/Riga")
	if err != nil {
		o.Fatal(err)
	}
	return company
}

// visitor is a browser without scripts. It does not follow redirects by itself.
type visitor struct {
	office
	client *http.Client
}

func (o office) visitor() *visitor {
	o.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		o.Fatal(err)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &visitor{office: o, client: &http.Client{Jar: jar, CheckRedirect: stay}}
}

// enter signs the company's first administrator in by the link.
func (o office) enter() *visitor {
	o.Helper()
	v := o.visitor()
	v.enterBy(o.company.SignInURL)
	return v
}

func (v *visitor) enterBy(link string) {
	v.Helper()
	u, err := url.Parse(link)
	if err != nil {
		v.Fatal(err)
	}
	v.get(u.Path).is(http.StatusOK).has("choose the password")
	v.post(u.Path, "password", password, "repeat", password).leads(view.PathOverview).has("Your password is set.", "Getting started")
}

// reply is an answer with its text.
type reply struct {
	v      *visitor
	status int
	header http.Header
	text   string // of HTML, entities decoded
	raw    string
	where  string
}

func (v *visitor) do(method, path string, form url.Values, header ...string) reply {
	v.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(v.Context(), method, v.program.URL+path, body)
	if err != nil {
		v.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := v.client.Do(r)
	if err != nil {
		v.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		v.Fatalf("%s %s: %v", method, path, err)
	}
	out := reply{v: v, status: res.StatusCode, header: res.Header, raw: string(raw), text: html.UnescapeString(string(raw)), where: method + " " + path}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") && res.StatusCode != http.StatusSeeOther {
		out.strict()
	}
	return out
}

func (v *visitor) get(path string) reply { v.Helper(); return v.do(http.MethodGet, path, nil) }

// post sends a form of name, value, name, value, …
func (v *visitor) post(path string, pairs ...string) reply {
	v.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return v.do(http.MethodPost, path, form)
}

func (r reply) is(status int) reply {
	r.v.Helper()
	if r.status != status {
		r.v.Fatalf("%s: %d, want %d; to %q\n%s", r.where, r.status, status, r.header.Get("Location"), r.main())
	}
	return r
}

// leads follows the redirect, which must lead there.
func (r reply) leads(path string) reply {
	r.v.Helper()
	r.is(http.StatusSeeOther)
	if got := r.header.Get("Location"); got != path {
		r.v.Fatalf("%s leads to %q, want %q", r.where, got, path)
	}
	return r.v.get(path).is(http.StatusOK)
}

func (r reply) has(texts ...string) reply {
	r.v.Helper()
	for _, text := range texts {
		if !strings.Contains(r.text, text) {
			r.v.Fatalf("%s does not say %q:\n%s", r.where, text, r.main())
		}
	}
	return r
}

func (r reply) lacks(texts ...string) reply {
	r.v.Helper()
	for _, text := range texts {
		if strings.Contains(r.text, text) {
			r.v.Fatalf("%s says %q:\n%s", r.where, text, r.main())
		}
	}
	return r
}

var tags = regexp.MustCompile(`(?s)<(script|style|svg).*?</(script|style|svg)>|<[^>]*>|\s+`)

// main is what a person would read, for messages of failed tests.
func (r reply) main() string {
	text := r.raw
	if _, main, found := strings.Cut(text, "<main"); found {
		text = "<main" + main
	}
	text = tags.ReplaceAllString(html.UnescapeString(text), " ")
	return text[:min(len(text), 700)]
}

// find gives the first group of a pattern in the page.
func (r reply) find(pattern string) string {
	r.v.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(r.text)
	if m == nil {
		r.v.Fatalf("%s: nothing matches %s:\n%s", r.where, pattern, r.main())
	}
	return m[1]
}

func (r reply) secret() string { r.v.Helper(); return r.find(`data-secret>([^<]+)<`) }

var inline = regexp.MustCompile(`(?i)<[a-z][^>]*\s(style|on[a-z]+)\s*=\s*["']|<style|<script(>|\s[^>]*>[^<])|javascript:|hx-on`)

// strict holds what goes for every page: nothing inline, nothing from elsewhere.
func (r reply) strict() {
	r.v.Helper()
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
	} {
		if got := r.header.Get(name); got != want {
			r.v.Errorf("%s: %s is %q, want %q", r.where, name, got, want)
		}
	}
	policy := r.header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		r.v.Errorf("%s: the policy is %q", r.where, policy)
	}
	if found := inline.FindString(r.raw); found != "" {
		r.v.Errorf("%s has %q inline", r.where, found)
	}
	for _, attribute := range regexp.MustCompile(`\s(?:src|href|action)="([^"]*)"`).FindAllStringSubmatch(r.raw, -1) {
		if !strings.HasPrefix(attribute[1], "/") && !strings.HasPrefix(attribute[1], "#") {
			r.v.Errorf("%s leads to %q", r.where, attribute[1])
		}
	}
}

// createToken makes the first token in the pages and gives its path and text.
func (v *visitor) createToken(name string) (path, secret string) {
	v.Helper()
	secret = v.post(view.PathTokenNew, "name", name, "scope", "b2b_provision", "expiry", "90").is(http.StatusOK).secret()
	return v.get(view.PathTokens).is(http.StatusOK).find(`href="(` + view.PathTokens + `/\d+)"`), secret
}

// call uses the API.
func (o office) call(token, method, path string, body any) int {
	o.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		o.Fatal(err)
	}
	r, err := http.NewRequestWithContext(o.Context(), method, o.program.URL+"/api/v1"+path, bytes.NewReader(text))
	if err != nil {
		o.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		o.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// hire makes employees through the API, each of which is an event.
func (o office) hire(token string, from, to int) {
	o.Helper()
	for n := from; n <= to; n++ {
		status := o.call(token, http.MethodPost, "/employees/provision", map[string]string{
			"externalId": fmt.Sprintf("HR-%d", n), "email": fmt.Sprintf("p%d@baltic.example", n), "name": fmt.Sprintf("Person %d", n),
		})
		if status != http.StatusOK {
			o.Fatalf("provision: %d", status)
		}
	}
}

// receiver is a webhook's target. Every request is told on got.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	got    chan http.Header
}

func (o office) receiver(status int) *receiver {
	r := &receiver{status: status, got: make(chan http.Header, 1000)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		status := r.status
		r.mu.Unlock()
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"said":"the receiver"}`)
		r.got <- req.Header
	}))
	o.Cleanup(r.Close)
	return r
}

func (r *receiver) answer(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

const patience = 30 * time.Second

func (o office) hears(r *receiver) http.Header {
	o.Helper()
	select {
	case h := <-r.got:
		return h
	case <-time.After(patience):
		o.Fatal("the receiver hears nothing")
		return nil
	}
}

// addWebhook adds one for people who join, and gives its path.
func (v *visitor) addWebhook(to string) string {
	v.Helper()
	added := v.post(view.PathWebhookNew, "url", to, "description", "HR", "event", "employee.joined").is(http.StatusSeeOther)
	path := added.header.Get("Location")
	added.leads(path).has("The webhook is added.")
	return path
}

// until asks for a page again and again until it says the text.
func (v *visitor) until(path, text string) reply {
	v.Helper()
	deadline := time.Now().Add(patience)
	for {
		r := v.get(path).is(http.StatusOK)
		if strings.Contains(r.text, text) {
			return r
		}
		if time.Now().After(deadline) {
			v.Fatalf("%s never says %q:\n%s", path, text, r.main())
		}
	}
}
