package service_test

import (
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

// office is the companies' side of the service on one store.
type office struct {
	t              *testing.T
	store          *store.Store
	companies      *service.Companies
	administrators *service.Administrators
	signIn         *service.SignIn
	sessions       *service.Sessions
	tokens         *service.Tokens
	audit          *service.Audit
}

// inOffice runs a test on every engine.
func inOffice(t *testing.T, fn func(o office)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, s *store.Store) { fn(newOffice(t, s)) })
}

func newOffice(t *testing.T, s *store.Store) office {
	t.Helper()
	o := office{
		t: t, store: s, companies: service.NewCompanies(s, 0), administrators: service.NewAdministrators(s, 0),
		signIn:   service.NewSignIn(s, xorSealer(0x5a), service.SignInOptions{Cost: cheap}),
		sessions: service.NewSessions(s), tokens: service.NewTokens(s, service.TokenOptions{}), audit: service.NewAudit(s),
	}
	t.Cleanup(func() {
		if err := o.tokens.Close(); err != nil {
			t.Errorf("close tokens: %v", err)
		}
	})
	return o
}

// xorSealer stands in for the real sealer: what it seals can be told from what
// it was given.
type xorSealer byte

func (x xorSealer) Seal(plain []byte) ([]byte, error) {
	out := make([]byte, len(plain))
	for i := range plain {
		out[i] = plain[i] ^ byte(x)
	}
	return out, nil
}

func (x xorSealer) Open(sealed []byte) ([]byte, error) { return x.Seal(sealed) }

// company makes a company whose administrator has not entered yet.
func (o office) company(email string) (domain.Company, string) {
	o.t.Helper()
	c, link, err := o.companies.Create(o.t.Context(), operator, domain.NewCompany{Name: "Acme", AdminEmail: email})
	must(o.t, "create a company", err)
	return c, link
}

func (o office) caller(c domain.Company) domain.Caller {
	return domain.Caller{Company: c, Actor: operator}
}

// settled makes a company whose administrator has entered and set a password.
func (o office) settled(email string) (domain.Company, service.Identity) {
	o.t.Helper()
	c, link := o.company(email)
	return c, o.enter(link)
}

// enter uses a link and sets the good password.
func (o office) enter(link string) service.Identity {
	o.t.Helper()
	who, err := o.signIn.Enter(o.t.Context(), link, "", here)
	must(o.t, "enter by link", err)
	id, err := o.signIn.Identify(o.t.Context(), who.ID, 0)
	must(o.t, "identify", err)
	must(o.t, "set a password", o.signIn.SetPassword(o.t.Context(), id.Actor(here), goodPassword, ""))
	return id
}

// join invites an address into a company and lets it enter.
func (o office) join(by domain.Caller, email string) service.Identity {
	o.t.Helper()
	_, link, err := o.administrators.Invite(o.t.Context(), by, email, "")
	must(o.t, "invite", err)
	return o.enter(link)
}

func (o office) token(c domain.Company) (domain.Token, string) {
	o.t.Helper()
	token, secret, err := o.tokens.Create(o.t.Context(), o.caller(c), domain.NewToken{Name: "HR"})
	must(o.t, "create a token", err)
	return token, secret
}

// actions gives a company's audit log, the oldest first, as "action by kind".
func (o office) actions(company int64) []string {
	o.t.Helper()
	page, err := o.audit.List(o.t.Context(), domain.Caller{Company: domain.Company{ID: company}}, domain.AuditFilter{}, domain.PageRequest{Limit: 500})
	must(o.t, "read the log", err)
	out := make([]string, len(page.Items))
	for i, e := range page.Items {
		out[len(out)-1-i] = e.Action + " by " + string(e.Actor.Kind)
	}
	return out
}

// exec changes the database behind the service's back: to let time pass.
func (o office) exec(sql string, args ...any) {
	o.t.Helper()
	err := o.store.Engine().Write(o.t.Context(), func(tx db.Tx) error {
		_, err := tx.Exec(o.t.Context(), sql, args...)
		return err
	})
	must(o.t, sql, err)
}

func (o office) count(sql string, args ...any) int {
	o.t.Helper()
	var n int
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&n) }, sql, args...)
	must(o.t, sql, o.store.Engine().Read(o.t.Context(), func(c db.Conn) error { return c.Send(o.t.Context(), b) }))
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

// together runs fn n times at once and gives what each returned.
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
