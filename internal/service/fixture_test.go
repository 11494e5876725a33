package service_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// cheap keeps hashing out of the tests' time.
var cheap = service.PasswordCost{Memory: 64, Passes: 1, Threads: 1}

var (
	operator = domain.Actor{Kind: domain.ActorOperator, Label: "operator"}
	here     = service.Origin{Address: netip.MustParseAddr("203.0.113.7"), RequestID: "req-1"}
	nowhere  = netip.Addr{}
)

const goodPassword = "violet tram engine"

// fixture is the companies' side of the service on one store.
type fixture struct {
	t              *testing.T
	store          *store.Store
	companies      *service.Companies
	administrators *service.Administrators
	signIn         *service.SignIn
	sessions       *service.Sessions
	watcher        *service.Watcher
	tokens         *service.Tokens
	audit          *service.Audit
}

// onEachEngine runs a test on every engine.
func onEachEngine(t *testing.T, fn func(f fixture)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, s *store.Store) { fn(newFixture(t, s)) })
}

func newFixture(t *testing.T, s *store.Store) fixture {
	t.Helper()
	watcher := service.NewWatcher(s, service.WatcherOptions{})
	f := fixture{
		t: t, store: s, watcher: watcher, companies: service.NewCompanies(s, 0), administrators: service.NewAdministrators(s, 0),
		signIn:   service.NewSignIn(s, xorBox(0x5a), service.SignInOptions{Cost: cheap}),
		sessions: service.NewSessions(s), tokens: service.NewTokens(s, watcher, service.TokenOptions{}), audit: service.NewAudit(s),
	}
	t.Cleanup(func() {
		if err := f.tokens.Close(); err != nil {
			t.Errorf("close tokens: %v", err)
		}
	})
	return f
}

// xorBox stands in for secret.Box: what it seals differs from what it was given and
// opens under the same label only.
type xorBox byte

// totpLabel is the label of second-factor secrets.
const totpLabel = "second factor"

func (x xorBox) Seal(label string, plain []byte) []byte {
	out := []byte(label + "\x00" + string(plain))
	for i := range out {
		out[i] ^= byte(x)
	}
	return out
}

func (x xorBox) OpenUntrusted(label string, sealed []byte) ([]byte, error) {
	return x.Open(label, sealed)
}

func (x xorBox) Open(label string, sealed []byte) ([]byte, error) {
	plain := x.Seal("", sealed)[1:]
	out, ok := bytes.CutPrefix(plain, []byte(label+"\x00"))
	if !ok {
		return nil, errors.New("sealed under another label")
	}
	return out, nil
}

// company makes a company whose administrator has not entered yet.
func (f fixture) company(email string) (domain.Company, string) {
	f.t.Helper()
	c, link, err := f.companies.Create(f.t.Context(), operator, domain.NewCompany{Name: "Acme", AdminEmail: email})
	must(f.t, "create a company", err)
	return c, link
}

func (f fixture) caller(c domain.Company) domain.Caller {
	return domain.Caller{Company: c, Actor: operator}
}

// companyWithPassword makes a company whose administrator has entered and set a password.
func (f fixture) companyWithPassword(email string) (domain.Company, service.Identity) {
	f.t.Helper()
	c, link := f.company(email)
	return c, f.enter(link)
}

// enter uses a link and sets the good password.
func (f fixture) enter(link string) service.Identity {
	f.t.Helper()
	who, err := f.signIn.Enter(f.t.Context(), link, "", here)
	must(f.t, "enter by link", err)
	id, err := f.signIn.Identify(f.t.Context(), who.ID, 0)
	must(f.t, "identify", err)
	must(f.t, "set a password", f.signIn.SetPassword(f.t.Context(), id.Actor(here), goodPassword, ""))
	return id
}

// invitation is one for an owner without a name.
func invitation(email string) service.NewInvitation {
	return service.NewInvitation{Email: email, Role: domain.CabinetOwner}
}

// join invites an address into a company and lets it enter.
func (f fixture) join(by domain.Caller, email string) service.Identity {
	f.t.Helper()
	_, link, err := f.administrators.Invite(f.t.Context(), by, invitation(email))
	must(f.t, "invite", err)
	return f.enter(link)
}

func (f fixture) token(c domain.Company) (domain.Token, string) {
	f.t.Helper()
	token, secret, err := f.tokens.Create(f.t.Context(), f.caller(c), domain.NewToken{Name: "HR"})
	must(f.t, "create a token", err)
	return token, secret
}

// actions returns a company's audit log, the oldest first, as "action by kind".
func (f fixture) actions(company int64) []string {
	f.t.Helper()
	page, err := f.audit.List(f.t.Context(), domain.Caller{Company: domain.Company{ID: company}}, domain.AuditFilter{}, domain.PageRequest{Limit: 500})
	must(f.t, "read the log", err)
	out := make([]string, len(page.Items))
	for i, e := range page.Items {
		out[len(out)-1-i] = e.Action + " by " + string(e.Actor.Kind)
	}
	return out
}

// exec changes the database behind the service's back: to let time pass.
func (f fixture) exec(sql string, args ...any) {
	f.t.Helper()
	err := f.store.Engine().Write(f.t.Context(), func(tx db.Tx) error {
		_, err := tx.Exec(f.t.Context(), sql, args...)
		return err
	})
	must(f.t, sql, err)
}

func (f fixture) count(sql string, args ...any) int {
	f.t.Helper()
	var n int
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&n) }, sql, args...)
	must(f.t, sql, f.store.Engine().Read(f.t.Context(), func(c db.Conn) error { return c.Send(f.t.Context(), b) }))
	return n
}

func must(t testing.TB, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func wantCode(t testing.TB, what string, err error, want domain.Code) {
	t.Helper()
	if err == nil || domain.CodeOf(err) != want {
		t.Errorf("%s: %v, want %s", what, err, want)
	}
}

func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// together runs fn n times at once and returns what each returned.
func together(n int, fn func(i int) error) []error {
	out := make([]error, n)
	var ready, all sync.WaitGroup
	ready.Add(n)
	for i := range n {
		all.Go(func() {
			ready.Done()
			ready.Wait()
			out[i] = fn(i)
		})
	}
	all.Wait()
	return out
}

func succeeded(errs []error) int {
	n := 0
	for _, err := range errs {
		if err == nil {
			n++
		}
	}
	return n
}

func unique(name string) string { return name + "-" + strings.ToLower(rand.Text()[:8]) + "@x.test" }

func background(t *testing.T, run func(context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}

// within tries again until fn is content: a try that begins after d must be.
func within(t *testing.T, d time.Duration, what string, fn func() bool) {
	t.Helper()
	deadline := time.Now().Add(d)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for last := false; !fn(); <-tick.C {
		if last {
			t.Fatalf("%s: not within %v", what, d)
		}
		last = time.Now().After(deadline)
	}
}
