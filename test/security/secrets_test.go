package security

import (
	"encoding/base32"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// walk is a visit of everything that handles secrets. It remembers each secret and
// each fact about a person that it meets.
type walk struct {
	t        *testing.T
	database string
	server   *process
	log      *logBuffer // of the operator's commands
	secrets  map[string]string
	personal map[string]string
}

func (w *walk) secret(what, value string) string {
	w.t.Helper()
	if len(value) < 8 {
		w.t.Fatalf("%s is %q", what, value)
	}
	w.secrets[what] = value
	return value
}

// A server at its most talkative writes no secret anywhere and no fact about a person
// into the log, the metrics or its arguments.
func TestNoSecretIsWritten(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		w := &walk{t: t, database: database, log: &logBuffer{}, secrets: map[string]string{}, personal: map[string]string{}}
		w.server = launch(t, database, "COURSEBRIDGE_LOG_LEVEL=debug", "COURSEBRIDGE_WEBHOOK_RETRY_DELAYS=50ms,50ms,50ms,50ms,50ms")
		if u, err := url.Parse(database); err == nil && u.User != nil {
			if password, ok := u.User.Password(); ok {
				w.secret("the database's password", password)
			}
		}
		w.api(w.cabinet())
		w.search()
	})
}

// cabinet walks through sign-in, the second factor, tokens, webhooks and invitations,
// and returns a token.
func (w *walk) cabinet() (token string) {
	w.t.Helper()
	made := runJSON[struct {
		CompanyID int64
		SignInURL string
	}](w.t, w.log, w.database, "company", "create", "--name", "Acme", "--admin", "chief.secret@acme.example")
	w.personal["the administrator"] = "chief.secret@acme"
	id := strconv.FormatInt(made.CompanyID, 10)
	v := newVisitor(w.t, w.server.url)
	link, err := url.Parse(made.SignInURL)
	if err != nil {
		w.t.Fatal(err)
	}
	w.secret("the sign-in link", link.Path[strings.LastIndex(link.Path, "/")+1:])
	password := w.secret("the password", "violet tram engine pancake")
	v.get(link.Path)
	v.post(link.Path, "password", password, "repeat", password)
	v.post("/cabinet/settings/sign-in/password", "current", w.secret("a wrong password", "wrong tram engine waffle"), "password", "x", "repeat", "y")
	totp := w.secret("the second factor", v.post("/cabinet/settings/sign-in/second-factor", "current", password).secret())
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(totp)
	if err != nil {
		w.t.Fatal(err)
	}
	codes := v.post("/cabinet/settings/sign-in/second-factor", "code", domain.TOTPCode(key, domain.TOTPStep(time.Now())))
	w.secret("a recovery code", codes.find(`<li>([a-z2-7-]{19})</li>`))
	w.secret("a token of the cabinet", v.post("/cabinet/tokens/new", "name", "HR", "scope", "b2b_read", "expiry", "90").secret())
	receiver := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusTeapot) }))
	w.t.Cleanup(receiver.Close)
	webhook := runJSON[struct {
		ID     int64
		Secret string
	}](w.t, w.log, w.database, "webhook", "add", "--company", id, "--url", receiver.URL+"/hook", "--event", "employee.joined")
	w.secret("the webhook's secret", webhook.Secret)
	path := "/cabinet/webhooks/" + strconv.FormatInt(webhook.ID, 10)
	v.post(path + "/secret")
	v.post(path + "/test")
	w.secret("the webhook's new secret", v.post(path+"/rotate").secret())
	invited := v.post("/cabinet/settings/administrators/invite", "email", "guest.secret@acme.example", "role", "viewer").secret()
	w.personal["a guest"] = "guest.secret@acme"
	w.secret("the invitation", invited[strings.LastIndex(invited, "/")+1:])
	for _, cookie := range v.cookies() {
		w.secret("the cookie "+cookie.Name, cookie.Value)
	}
	stranger := newVisitor(w.t, w.server.url)
	stranger.post("/cabinet/sign-in", "email", "chief.secret@acme.example", "password", w.secrets["a wrong password"])
	stranger.post("/cabinet/sign-in", "email", "chief.secret@acme.example", "password", password)
	stranger.post("/cabinet/sign-in/code", "code", "000000")
	stranger.get("/cabinet/link/" + w.secret("a link that nobody made", "nobody-made-this-link-at-all"))
	v.post("/cabinet/sign-out")
	w.secret("the platform's token", runJSON[struct{ Token string }](w.t, w.log, w.database, "platform-token", "create", "--name", "p").Token)
	return w.secret("a token", runJSON[struct{ Token string }](w.t, w.log, w.database, "token", "create", "--company", id, "--name", "HR",
		"--scope", "b2b_read", "--scope", "b2b_provision").Token)
}

// api calls the API with good and bad tokens, in the right and in wrong places.
func (w *walk) api(token string) {
	w.t.Helper()
	w.personal["an employee's address"], w.personal["an employee's name"] = "anna.secret@people", "Anna Secret-Example"
	person := map[string]any{"externalId": "HR-1", "email": "anna.secret@people.example", "name": "Anna Secret-Example"}
	call := func(method, path, token string, body any) int {
		status, _ := send(w.t, request{method, w.server.url + path, token, body})
		return status
	}
	if got := call(http.MethodPost, "/api/v1/employees/provision", token, person); got != http.StatusOK {
		w.t.Fatalf("provision: %d", got)
	}
	call(http.MethodPost, "/api/v1/employees/provision", token, map[string]any{"externalId": "HR-2", "email": "anna.secret@people.example", "name": "Anna Secret-Example"})
	call(http.MethodGet, "/api/v1/employees?email=anna.secret@people.example", token, nil)
	call(http.MethodGet, "/api/v1/employees/anna.secret@people.example", token, nil)
	call(http.MethodGet, "/api/v1/token?access_token="+token, "", nil)
	call(http.MethodGet, "/api/v1/token", token+"x", nil)
	call(http.MethodGet, "/platform/v1/companies", token, nil)
	call(http.MethodGet, "/platform/v1/companies", w.secrets["the platform's token"], nil)
	call(http.MethodGet, "/api/v1/reports/employees.csv", token, nil)
	// The delivery fails six times, so that failures are logged too.
	s, err := store.Open(w.t.Context(), w.database)
	if err != nil {
		w.t.Fatal(err)
	}
	defer s.Close()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if len(storetest.Texts(w.t, s, `SELECT state FROM deliveries WHERE state = 'failed' AND kind = 'employee.joined'`)) > 0 {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatal("the delivery did not fail")
		}
	}
}

// search looks for the secrets in everything that the program has written.
func (w *walk) search() {
	w.t.Helper()
	arguments, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", w.server.cmd.Process.Pid))
	if err != nil {
		w.t.Fatal(err)
	}
	_, metrics := send(w.t, request{http.MethodGet, w.server.url + "/metrics", "", nil})
	if !strings.Contains(metrics, "coursebridge") {
		w.t.Fatalf("these are no metrics: %.200s", metrics)
	}
	s, err := store.Open(w.t.Context(), w.database)
	if err != nil {
		w.t.Fatal(err)
	}
	defer s.Close()
	written := map[string]string{
		"the log": w.server.log.String(), "the output of commands": w.log.String(), "the arguments": string(arguments),
		"the metrics": metrics, "the tables": strings.Join(storetest.Dump(w.t, s), "\n"),
	}
	if path, ok := strings.CutPrefix(w.database, "sqlite://"); ok {
		for _, suffix := range []string{"", "-wal"} {
			raw, err := os.ReadFile(path + suffix)
			if err != nil {
				w.t.Fatal(err)
			}
			written["the file"+suffix] = string(raw)
		}
	}
	for where, text := range written {
		for what, secret := range w.secrets {
			if strings.Contains(text, secret) {
				w.t.Errorf("%s holds %s", where, what)
			}
		}
		for what, fact := range w.personal {
			if where != "the tables" && !strings.HasPrefix(where, "the file") && strings.Contains(text, fact) {
				w.t.Errorf("%s holds %s", where, what)
			}
		}
	}
	w.t.Logf("%d secrets and %d facts looked for in %d bytes of log", len(w.secrets), len(w.personal), len(written["the log"]))
}
