package security

import (
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/platformapi"
	"github.com/coursebridge/coursebridge/internal/publicapi"
)

var scopes = []string{"b2b_read", "b2b_provision", "b2b_assignment"}

// quiet leaves the victim's deliveries as they are.
func quiet(c *app.ServeConfig) { c.Webhooks.Off = true }

var pathParameter = regexp.MustCompile(`\{[A-Za-z]+\}`)

// The routing table lists all operations, so that a new one is attacked
// without anybody adding it here: each is called with the attacker's token and every
// identifier of the victim, in the path, the query and the body. No answer may hold
// anything of the victim, and no row of the victim may change.
func TestNoOperationReachesAnotherCompany(t *testing.T) {
	t.Parallel()
	apptest.Each(t, apptest.Options{Serve: quiet}, func(t *testing.T, p *apptest.Program) {
		v, attacker := newVictim(t, p), newCompany(t, p, "Attacker")
		v.checkOwnView()
		before := v.rows()
		calls := 0
		for _, op := range publicapi.Contracts() {
			for _, id := range append([]string{"unknown"}, v.ids...) {
				path := "/api/v1" + pathParameter.ReplaceAllLiteralString(op.Path, url.PathEscape(id)) + "?" + queryWith(op.Query, id)
				status, text := attacker.send(op.Method, path, bodyWith(op.Body, id))
				if strings.Contains(text, secretMark) {
					t.Errorf("%s %s answers with data of another company: %.300s", op.Method, path, text)
				}
				if status >= http.StatusInternalServerError {
					t.Errorf("%s %s: %d %.300s", op.Method, path, status, text)
				}
				calls++
				if !strings.Contains(op.Path, "{") && op.Body == nil && len(op.Query) == 0 {
					break // nothing to try
				}
			}
		}
		if diff := cmp.Diff(before, v.rows()); diff != "" {
			t.Errorf("the attacker changed the victim's data (-before +after):\n%s", diff)
		}
		t.Logf("%d calls with %d identifiers", calls, len(v.ids))
	})
}

// checkOwnView checks that the victim itself sees its data in many operations: else
// it would prove nothing that the attacker does not.
func (v *victim) checkOwnView() {
	v.t.Helper()
	seen := map[string]bool{}
	for _, op := range publicapi.Contracts() {
		for _, id := range v.ids {
			if op.Method != http.MethodGet || seen[op.Path] {
				continue
			}
			_, text := v.send(op.Method, "/api/v1"+pathParameter.ReplaceAllLiteralString(op.Path, url.PathEscape(id)), nil)
			seen[op.Path] = strings.Contains(text, secretMark)
		}
	}
	shown := 0
	for _, contains := range seen {
		if contains {
			shown++
		}
	}
	if shown < 9 {
		v.t.Errorf("the victim itself sees its data in %d operations only: %v", shown, seen)
	}
}

// queryWith sets every parameter that can hold an identifier.
func queryWith(names []string, id string) string {
	q := url.Values{}
	for _, name := range names {
		switch name {
		case "page", "limit", "after", "bom", "status", "updatedSince":
		default:
			q.Set(name, id)
		}
	}
	return q.Encode()
}

// bodyWith returns a body in which every field that can hold the identifier does.
func bodyWith(shape any, id string) any {
	if shape == nil {
		return nil
	}
	return fill(reflect.TypeOf(shape), id, "")
}

func fill(kind reflect.Type, id, field string) any {
	switch kind.Kind() {
	case reflect.Pointer:
		return fill(kind.Elem(), id, field)
	case reflect.Slice:
		return []any{fill(kind.Elem(), id, "")}
	case reflect.Struct:
		out := map[string]any{}
		for i := range kind.NumField() {
			name, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
			if value := fill(kind.Field(i).Type, id, name); value != nil {
				out[name] = value
			}
		}
		return out
	case reflect.Int64, reflect.Int:
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return 1
		}
		return n
	case reflect.String:
		if strings.EqualFold(field, "email") {
			return id + "@people.example"
		}
		return id
	case reflect.Bool:
		return false
	default:
		return nil
	}
}

// Every operation refuses: no token, a token of the other kind, a token without its
// scope, a revoked token, a token of a suspended company.
func TestEveryOperationChecksItsCaller(t *testing.T) {
	t.Parallel()
	apptest.Each(t, apptest.Options{Serve: quiet}, func(t *testing.T, p *apptest.Program) {
		c, suspended := newCompany(t, p, "Company"), newCompany(t, p, "Suspended")
		if _, err := p.SuspendCompany(t.Context(), suspended.id); err != nil {
			t.Fatal(err)
		}
		revoked, err := p.CreateToken(t.Context(), app.TokenInput{Company: c.id, Name: "revoked", Scopes: scopes})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.RevokeToken(t.Context(), revoked.ID); err != nil {
			t.Fatal(err)
		}
		platform, err := p.CreatePlatformToken(t.Context(), "platform")
		if err != nil {
			t.Fatal(err)
		}
		byScope := map[string]string{}
		for _, scope := range scopes {
			byScope[scope] = c.createToken(scope)
		}
		type call struct {
			prefix string
			op     httpapi.Contract
		}
		check := func(c call, who, token string, want int) {
			t.Helper()
			op := c.op
			path := c.prefix + pathParameter.ReplaceAllLiteralString(op.Path, "1")
			status, text := send(t, request{op.Method, p.URL + path, token, bodyWith(op.Body, "1")})
			if status != want {
				t.Errorf("%s %s with %s: %d %.200s, want %d", op.Method, path, who, status, text, want)
			}
		}
		for _, op := range publicapi.Contracts() {
			public := call{"/api/v1", op}
			check(public, "no token", "", http.StatusUnauthorized)
			check(public, "a platform token", platform.Token, http.StatusUnauthorized)
			check(public, "a revoked token", revoked.Token, http.StatusUnauthorized)
			check(public, "a suspended company's token", suspended.token, http.StatusForbidden)
			if !slices.Contains(scopes, string(op.Scope)) && op.Scope != "b2b_api" {
				t.Errorf("%s %s needs the scope %q, which this test does not know", op.Method, op.Path, op.Scope)
			}
			for _, scope := range scopes {
				if scope != string(op.Scope) && op.Scope != "b2b_api" {
					check(public, "the scope "+scope, byScope[scope], http.StatusForbidden)
				}
			}
		}
		for _, op := range platformapi.Contracts() {
			check(call{"/platform/v1", op}, "no token", "", http.StatusUnauthorized)
			check(call{"/platform/v1", op}, "a company's token", c.token, http.StatusUnauthorized)
		}
	})
}
