package storetest_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// addAdministrator creates an administrator of the company who has signed in, with a
// session, and returns a caller for them.
func (f testCompany) addAdministrator(email string, role domain.CabinetRole) domain.Caller {
	f.t.Helper()
	change(f.t, f.s, `INSERT INTO administrators (email, email_folded, name, recovery_hashes, theme, created_at, last_sign_in_at)
		VALUES ($1, $2, 'Trillian', '[]', '', $3, $3)`, email, domain.FoldEmail(email), f.s.Now())
	id := number(f.t, f.s, `SELECT id FROM administrators WHERE email = $1`, email)
	change(f.t, f.s, `INSERT INTO company_administrators (company_id, administrator_id, role, added_at, added_by) VALUES ($1, $2, $3, $4, '')`,
		f.c.Company.ID, id, string(role), f.s.Now())
	change(f.t, f.s, `INSERT INTO sessions (hash, administrator_id, data, created_at, seen_at, expires_at, address, user_agent)
		VALUES ($1, $2, $1, $3, $3, $4, '198.51.100.42', 'galaxy browser')`, []byte(email), id, f.s.Now(), f.s.Now().Add(time.Hour))
	return domain.Caller{Company: f.c.Company, Actor: domain.Actor{
		Kind: domain.ActorPerson, ID: id, Label: email, RequestID: "request", Address: "198.51.100.42",
	}}
}

// addPerson creates a person with all that one can have here: a history as an employee of
// two companies, an account, the role of an administrator in one company and an
// invitation by the other, attempts at signing in, and texts that mention the address.
func addPerson(t *testing.T, f, other testCompany) (email string) {
	t.Helper()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	email = "Trillian@galaxy.test"
	f.provisionWithHistory(t)
	_, _, err := other.s.Provision(t.Context(), other.c, domain.Provision{ExternalID: "QUUX-9", Email: strings.ToUpper(email), Name: "Trillian"})
	must("provision elsewhere", err)
	person := f.addAdministrator(email, domain.CabinetAdministrator)
	_, err = f.s.Invite(t.Context(), other.c, email, domain.NewLink{
		Kind: domain.LinkInvitation, Role: domain.CabinetOwner, Lifetime: time.Hour, Name: "Trillian",
	})
	must("invite", err)
	token, err := f.s.CreateToken(t.Context(), person, domain.NewToken{Name: "of TRILLIAN@galaxy.test, HR"}, domain.DigestToken("token"))
	must("create a token", err)
	byToken := f.c
	byToken.Actor = domain.Actor{Kind: domain.ActorToken, ID: token.ID, Label: token.Name}
	_, _, err = f.s.Provision(t.Context(), byToken, domain.Provision{ExternalID: "E1", Email: "e1@x.test", Name: "Somebody"})
	must("provision with the token", err)
	change(t, f.s, `UPDATE endpoints SET description = 'ask trillian@galaxy.test' WHERE company_id = $1`, f.c.Company.ID)
	must("count an attempt", f.s.CountAttempt(t.Context(), []domain.Throttle{domain.AccountThrottle(email)}))
	return email
}

func TestPersonExportIsComplete(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		email := addPerson(t, f, other)
		got, err := s.Person(t.Context(), strings.ToLower(email))
		if err != nil {
			t.Fatal(err)
		}
		if got.Account == nil || got.Administrator == nil || len(got.Administrator.Sessions) != 1 || len(got.Employments) != 2 {
			t.Errorf("account %v, administrator %v, %d employments", got.Account, got.Administrator, len(got.Employments))
		}
		attempts := 0
		for _, v := range got.Employments[0].Events {
			attempts += len(v.Attempts)
		}
		equal(t, "attempts", attempts, int(number(t, s, `SELECT count(*) FROM delivery_attempts WHERE company_id = $1`, f.c.Company.ID)))
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		// Former addresses and names, tags, external ids, what receivers answered, network addresses, free texts.
		for _, want := range []string{
			"Zaphod@galaxy.test", "QUUX-1", "QUUX-9", `"galaxy","x"`, "quux-late", "sorry trillian", "198.51.100.42", "galaxy browser",
			"token.created", "of TRILLIAN@galaxy.test, HR", "ask trillian@galaxy.test",
		} {
			if !strings.Contains(string(text), want) {
				t.Errorf("the export does not contain %q", want)
			}
		}
	})
}

func TestErasePersonLeavesNoTrace(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		email := addPerson(t, f, other)
		stays := f.addAdministrator("owner@x.test", domain.CabinetOwner)
		traces := append([]string{"198.51.100.42"}, identifying...)
		by := domain.Actor{Kind: domain.ActorOperator, Label: "operator"}
		if err := s.ErasePerson(t.Context(), by, email); err != nil {
			t.Fatal(err)
		}
		change(t, s, `DELETE FROM sessions WHERE administrator_id = $1`, stays.Actor.ID) // from the same browser
		change(t, s, `UPDATE administrators SET name = ''`)
		// The external id stays in the event of the removal until that expires.
		change(t, s, `DELETE FROM events WHERE kind = 'employee.removed'`)
		equal(t, "traces", mentions(dump(t, s), traces...), []string{})
		s.Engine().ScrubDeleted(t.Context())
		wantNoTrace(t, s, identifying...)
		wantCode(t, "erase again", s.ErasePerson(t.Context(), by, email), domain.CodeNotFound)
		equal(t, "who stays", texts(t, s, `SELECT email FROM administrators`), []string{"owner@x.test"})
		equal(t, "employees who stay", texts(t, s, `SELECT email FROM employees`), []string{"e1@x.test"})
		equal(t, "the token's name", texts(t, s, `SELECT name FROM tokens`), []string{"of " + domain.ErasedAddress + ", HR"})
		equal(t, "throttles", texts(t, s, `SELECT key FROM sign_in_throttles`), []string{})
	})
}

// The address of a webhook that contains the person's address is reported, because
// only its company can change it.
func TestErasePersonKeepsAddressesOfWebhooks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		id := storetest.Endpoint(t, s, f.c.Company.ID)
		const url = "https://hooks.test/?for=trillian@galaxy.test"
		change(t, s, `UPDATE endpoints SET url = $1`, url)
		f.provision("E1", "trillian@galaxy.test")
		if err := s.ErasePerson(t.Context(), f.c.Actor, "trillian@galaxy.test"); err != nil {
			t.Fatal(err)
		}
		left, err := s.Person(t.Context(), "trillian@galaxy.test")
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "what is left", left.Mentions, []domain.PersonMention{{CompanyID: f.c.Company.ID, Where: "endpoints.url", ID: id, Text: url}})
	})
}

// A token may be renamed while the person whom its name mentions is erased.
func TestErasePersonKeepsLaterChanges(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provision("E1", "trillian@galaxy.test")
		id := storetest.Endpoint(t, s, f.c.Company.ID)
		change(t, s, `UPDATE endpoints SET description = 'trillian@galaxy.test wants it'`)
		rename := `UPDATE endpoints SET description = 'Payroll, ask trillian@galaxy.test' WHERE company_id = $1 AND id = $2`
		if s.Engine().Name() == "sqlite" { // its writers run one at a time
			return
		}
		release := storetest.HoldLocks(t, s, rename, f.c.Company.ID, id)
		erased := make(chan error, 1)
		go func() { erased <- s.ErasePerson(t.Context(), f.c.Actor, "trillian@galaxy.test") }()
		storetest.WaitForLocks(t, s, 1)
		release()
		wantNoError(t, "erase", <-erased)
		equal(t, "descriptions", texts(t, s, `SELECT description FROM endpoints`), []string{"Payroll, ask " + domain.ErasedAddress})
	})
}
