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

	nethtml "golang.org/x/net/html"

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

const (
	password = "four unrelated words here"
	admin    = "anna@baltic.example"
)

// fixture is a running program with a company.
type fixture struct {
	*testing.T
	program *apptest.Program
	company app.CompanyCreated
}

// onEachEngine starts the program once per engine, with a company.
func onEachEngine(t *testing.T, fn func(f fixture)) {
	t.Helper()
	onEachEngineWith(t, apptest.Options{}, fn)
}

func onEachEngineWith(t *testing.T, options apptest.Options, fn func(f fixture)) {
	t.Helper()
	apptest.Each(t, options, func(t *testing.T, p *apptest.Program) {
		f := fixture{T: t, program: p}
		f.company = f.createCompany("Baltic Freight", admin)
		fn(f)
	})
}

// slowRetries makes a failed delivery wait for longer than the test runs.
func slowRetries(c *app.ServeConfig) { c.Webhooks.RetryDelays = "10m,10m,10m,10m,10m" }

// quickFailure makes a delivery fail for good within milliseconds.
func quickFailure(c *app.ServeConfig) { c.Webhooks.RetryDelays = "1ms,1ms,1ms,1ms,1ms" }

// noWebhooks leaves deliveries as the test writes them.
func noWebhooks(c *app.ServeConfig) { c.Webhooks.Off = true }

func (f fixture) createCompany(name, email string) app.CompanyCreated {
	f.Helper()
	company, err := f.program.CreateCompany(f.Context(), name, email, "Europe/Riga")
	if err != nil {
		f.Fatal(err)
	}
	return company
}

// store opens the program's database once more, until the test ends.
func (f fixture) store() *store.Store {
	f.Helper()
	s, err := store.Open(f.Context(), f.program.Database)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	return s
}

// exec runs a statement on the program's database.
func (f fixture) exec(sql string, args ...any) {
	f.Helper()
	err := f.store().Engine().Write(f.Context(), func(tx db.Tx) error {
		_, err := tx.Exec(f.Context(), sql, args...)
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
}

// visitor is a browser without scripts. It does not follow redirects by itself.
type visitor struct {
	fixture
	client *http.Client
	base   string // where the pages are
}

func (f fixture) visitor() *visitor {
	f.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		f.Fatal(err)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &visitor{fixture: f, client: &http.Client{Jar: jar, CheckRedirect: stay}, base: f.program.URL}
}

// administrator returns a visitor who has signed in with the first sign-in link.
func (f fixture) administrator() *visitor {
	f.Helper()
	v := f.visitor()
	v.useLink(f.company.SignInURL)
	return v
}

func (v *visitor) useLink(link string) {
	v.Helper()
	u, err := url.Parse(link)
	if err != nil {
		v.Fatal(err)
	}
	v.get(u.Path).wantStatus(http.StatusOK).wantText("choose the password")
	v.post(u.Path, "password", password, "repeat", password).wantRedirect(view.PathHome).wantText("Your password is set.")
}

// response is a response with its text.
type response struct {
	v       *visitor
	status  int
	header  http.Header
	text    string // of HTML, entities decoded
	raw     string
	request string
}

func (v *visitor) do(method, path string, form url.Values, header ...string) response {
	v.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(v.Context(), method, v.base+path, body)
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
	out := response{v: v, status: res.StatusCode, header: res.Header, raw: string(raw), text: html.UnescapeString(string(raw)), request: method + " " + path}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") && res.StatusCode != http.StatusSeeOther {
		out.checkPolicy()
	}
	return out
}

func (v *visitor) get(path string) response { v.Helper(); return v.do(http.MethodGet, path, nil) }

// post sends a form of name, value, name, value, …
func (v *visitor) post(path string, pairs ...string) response {
	v.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return v.do(http.MethodPost, path, form)
}

func (r response) wantStatus(status int) response {
	r.v.Helper()
	if r.status != status {
		r.v.Fatalf("%s: %d, want %d; to %q\n%s", r.request, r.status, status, r.header.Get("Location"), r.mainText())
	}
	return r
}

// wantRedirect checks that the response redirects to path and follows it.
func (r response) wantRedirect(path string) response {
	r.v.Helper()
	r.wantStatus(http.StatusSeeOther)
	if got := r.header.Get("Location"); got != path {
		r.v.Fatalf("%s leads to %q, want %q", r.request, got, path)
	}
	return r.v.get(path).wantStatus(http.StatusOK)
}

// follow follows the redirect, wherever it leads.
func (r response) follow() response {
	r.v.Helper()
	r.wantStatus(http.StatusSeeOther)
	path, _, _ := strings.Cut(r.header.Get("Location"), "#")
	return r.v.get(path).wantStatus(http.StatusOK)
}

func (r response) wantText(texts ...string) response {
	r.v.Helper()
	for _, text := range texts {
		if !strings.Contains(r.text, text) {
			r.v.Fatalf("%s does not say %q:\n%s", r.request, text, r.mainText())
		}
	}
	return r
}

func (r response) wantNoText(texts ...string) response {
	r.v.Helper()
	for _, text := range texts {
		if strings.Contains(r.text, text) {
			r.v.Fatalf("%s says %q:\n%s", r.request, text, r.mainText())
		}
	}
	return r
}

var tags = regexp.MustCompile(`(?s)<(script|style|svg).*?</(script|style|svg)>|<[^>]*>|\s+`)

// mainText returns what a person would read, for failure messages.
func (r response) mainText() string {
	text := r.raw
	if _, main, found := strings.Cut(text, "<main"); found {
		text = "<main" + main
	}
	text = tags.ReplaceAllString(html.UnescapeString(text), " ")
	return text[:min(len(text), 700)]
}

// find returns the first group of a pattern in the page.
func (r response) find(pattern string) string {
	r.v.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(r.text)
	if m == nil {
		r.v.Fatalf("%s: nothing matches %s:\n%s", r.request, pattern, r.mainText())
	}
	return m[1]
}

func (r response) secret() string { r.v.Helper(); return r.find(`data-secret>([^<]+)<`) }

// checkPolicy checks the security headers, and that nothing is inline or foreign.
func (r response) checkPolicy() {
	r.v.Helper()
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
	} {
		if got := r.header.Get(name); got != want {
			r.v.Errorf("%s: %s is %q, want %q", r.request, name, got, want)
		}
	}
	policy := r.header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		r.v.Errorf("%s: the policy is %q", r.request, policy)
	}
	for tokens := nethtml.NewTokenizer(strings.NewReader(r.raw)); tokens.Next() != nethtml.ErrorToken; {
		if problem := forbiddenInTag(tokens.Token()); problem != "" {
			r.v.Errorf("%s has %s", r.request, problem)
		}
	}
}

// forbiddenInTag returns what the policy forbids in a tag: styles and scripts inside the
// page, and addresses elsewhere.
func forbiddenInTag(tag nethtml.Token) string {
	if tag.Type != nethtml.StartTagToken && tag.Type != nethtml.SelfClosingTagToken {
		return ""
	}
	if tag.Data == "style" {
		return "a style element"
	}
	isScript := tag.Data == "script"
	for _, a := range tag.Attr {
		switch {
		case a.Key == "style", strings.HasPrefix(a.Key, "on"), strings.HasPrefix(a.Key, "hx-on"):
			return fmt.Sprintf("%s=%q inline", a.Key, a.Val)
		case a.Key == "src", a.Key == "href", a.Key == "action", a.Key == "formaction":
			isScript = false
			if !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#") {
				return fmt.Sprintf("a way to %q", a.Val)
			}
		}
	}
	if isScript {
		return "a script inline"
	}
	return ""
}

// createToken creates the first token and returns its path and secret.
func (v *visitor) createToken(name string) (path, secret string) {
	v.Helper()
	secret = v.post(view.PathTokenNew, "name", name, "scope", "b2b_provision", "expiry", "90").follow().secret()
	return v.get(view.PathTokens).wantStatus(http.StatusOK).find(`href="(` + view.PathTokens + `/\d+)"`), secret
}

// callAPI calls the public API and returns the status.
func (f fixture) callAPI(token, method, path string, body any) int {
	f.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		f.Fatal(err)
	}
	r, err := http.NewRequestWithContext(f.Context(), method, f.program.URL+"/api/v1"+path, bytes.NewReader(text))
	if err != nil {
		f.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		f.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// provision creates employees through the API; each one causes an event.
func (f fixture) provision(token string, from, to int) {
	f.Helper()
	for n := from; n <= to; n++ {
		status := f.callAPI(token, http.MethodPost, "/employees/provision", map[string]string{
			"externalId": fmt.Sprintf("HR-%d", n), "email": fmt.Sprintf("p%d@baltic.example", n), "name": fmt.Sprintf("Person %d", n),
		})
		if status != http.StatusOK {
			f.Fatalf("provision: %d", status)
		}
	}
}

// receiver is a webhook's target. It sends the headers of every request to got.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	got    chan http.Header
}

func (f fixture) receiver(status int) *receiver {
	r := &receiver{status: status, got: make(chan http.Header, 1000)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		status := r.status
		r.mu.Unlock()
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"said":"the receiver"}`)
		r.got <- req.Header
	}))
	f.Cleanup(r.Close)
	return r
}

func (r *receiver) answer(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

const patience = 30 * time.Second

func (f fixture) awaitRequest(r *receiver) http.Header {
	f.Helper()
	select {
	case h := <-r.got:
		return h
	case <-time.After(patience):
		f.Fatal("the receiver hears nothing")
		return nil
	}
}

// addWebhook adds a webhook for employee.joined and returns its path.
func (v *visitor) addWebhook(to string) string {
	v.Helper()
	added := v.post(view.PathWebhookNew, "url", to, "description", "HR", "event", "employee.joined").wantStatus(http.StatusSeeOther)
	path := added.header.Get("Location")
	added.wantRedirect(path).wantText("Webhook added.")
	return path
}

// waitForText reloads a page until it contains the text.
func (v *visitor) waitForText(path, text string) response {
	v.Helper()
	deadline := time.Now().Add(patience)
	for {
		r := v.get(path).wantStatus(http.StatusOK)
		if strings.Contains(r.text, text) {
			return r
		}
		if time.Now().After(deadline) {
			v.Fatalf("%s never says %q:\n%s", path, text, r.mainText())
		}
	}
}

// waitForStatus requests a page until it answers with the status. It does not read
// the body.
func (v *visitor) waitForStatus(path string, status int) http.Header {
	v.Helper()
	deadline := time.Now().Add(patience)
	for {
		res, err := v.client.Get(v.program.URL + path)
		if err != nil {
			v.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode == status {
			return res.Header
		}
		if time.Now().After(deadline) {
			v.Fatalf("GET %s: %d, want %d", path, res.StatusCode, status)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// sessionData returns the data of all sessions.
func (f fixture) sessionData() (all string) {
	f.Helper()
	err := f.store().Engine().Read(f.Context(), func(c db.Conn) error {
		b := &db.Batch{}
		b.Query(func(r db.Rows) error {
			var data []byte
			err := r.Scan(&data)
			all += string(data)
			return err
		}, `SELECT data FROM sessions`)
		return c.Send(f.Context(), b)
	})
	if err != nil {
		f.Fatal(err)
	}
	return all
}
