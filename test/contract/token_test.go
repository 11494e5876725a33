package contract_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// tokens reads, expires and revokes tokens.
func tokens(t *testing.T, s *suite) {
	f := s.newCompany(t)
	who := fmt.Sprintf(`"name":"contract","company":{"id":%d,"name":"Company %d"}`, f.id, f.number)
	f.sendRows(t, []row{{do: "GET /token", has: `{` + who + `,"scopes":["b2b_api","b2b_read","b2b_provision","b2b_assignment"],"expiresAt":null}`}})
	for _, scopes := range [][]string{nil, {"b2b_api"}} {
		f.sendRow(t, f.withToken(f.createToken(t, scopes...)), row{do: "GET /token", has: `{"scopes":["b2b_api"],"expiresAt":null}`})
	}
	f.sendRow(t, f.withToken(f.createToken(t, "b2b_provision", "b2b_provision")), row{do: "GET /token", has: `{"scopes":["b2b_api","b2b_provision"]}`})

	lives := 700 * time.Millisecond
	made, err := s.CreateToken(t.Context(), app.TokenInput{Company: f.id, Name: "short", Scopes: []string{"b2b_read"}, Expires: lives})
	if err != nil {
		t.Fatal(err)
	}
	a := f.withToken(made.Token).send(t, "GET", "/token", "")
	ends, err := time.Parse(time.RFC3339, a.str("expiresAt"))
	if err != nil || a.status != 200 {
		t.Fatalf("a token that lives for %s: %d %s", lives, a.status, a.text)
	}
	for {
		asked := time.Now()
		status := f.withToken(made.Token).send(t, "GET", "/courses", "").status
		if status == 401 {
			if time.Now().Before(ends.Add(-50 * time.Millisecond)) {
				t.Errorf("it ended before %s", ends)
			}
			break
		}
		if status != 200 || asked.After(ends.Add(100*time.Millisecond)) {
			t.Fatalf("%d at %s, and it ends at %s", status, asked, ends)
		}
	}
}

// revocation checks that revocation and suspension by another process take effect
// within a second on every replica.
func revocation(t *testing.T, s *suite) {
	f := s.newCompany(t)
	command, err := app.Open(t.Context(), app.Config{Database: s.Database, LogTo: s.Log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := command.Close(); err != nil {
			t.Error(err)
		}
	})
	made, err := command.CreateToken(t.Context(), app.TokenInput{Company: f.id, Name: "doomed", Scopes: []string{"b2b_read"}})
	if err != nil {
		t.Fatal(err)
	}
	doomed := *f
	doomed.token = made.Token
	doomed.waitForStatus(t, http.StatusOK)
	if _, err := command.RevokeToken(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	doomed.waitForStatus(t, http.StatusUnauthorized)
	operator := domain.Actor{Kind: domain.ActorOperator}
	for _, c := range []struct {
		suspended bool
		status    int
	}{{true, http.StatusForbidden}, {false, http.StatusOK}} {
		if _, err := s.store.SuspendCompany(t.Context(), operator, f.id, c.suspended); err != nil {
			t.Fatal(err)
		}
		f.waitForStatus(t, c.status)
	}
	doomed.waitForStatus(t, http.StatusUnauthorized)
}

// tokenKinds checks that tokens of the one API are invalid in the other.
func tokenKinds(t *testing.T, s *suite) {
	f := s.newCompany(t)
	platform := s.platformCaller()
	fresh := f.createToken(t, "b2b_read")
	made, err := s.CreatePlatformToken(t.Context(), "fresh")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if a := platform.withToken(fresh).send(t, "GET", "/companies", ""); a.status != 401 {
			t.Errorf("a company's token on the platform's side: %d", a.status)
		}
		if a := f.withToken(fresh).send(t, "GET", "/courses", ""); a.status != 200 {
			t.Errorf("a company's token that was tried on the platform's side: %d %s", a.status, a.text)
		}
		if a := f.withToken(made.Token).send(t, "GET", "/courses", ""); a.status != 401 {
			t.Errorf("the platform's token on the public side: %d", a.status)
		}
		if a := platform.withToken(made.Token).send(t, "GET", "/companies", ""); a.status != 200 {
			t.Errorf("the platform's token that was tried on the public side: %d %s", a.status, a.text)
		}
	}
}
