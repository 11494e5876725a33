package contract_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/apicheck"
	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/domain"
)

var missingPaths = strings.NewReplacer("{externalId}", "nobody", "{id}", "999999999999", "{companyId}", "999999999999")

// sendExample sends a valid request of an operation for records that do not exist.
func (c caller) sendExample(t *testing.T, op *apicheck.Operation, change ...func(*http.Request)) *answer {
	t.Helper()
	return c.send(t, op.Method, missingPaths.Replace(op.Path), op.Body, change...)
}

func (a *answer) wantFailure(t *testing.T, what string, status int, code, words string) {
	t.Helper()
	if message, _ := a.body["message"].(string); a.status != status || a.code() != code || !strings.Contains(message, words) {
		t.Errorf("%s: got %d %s, want %d %s %q\n%.300s", what, a.status, a.code(), status, code, words, a.text)
	}
}

// invalidCredentials returns changes of a request that make its credentials invalid.
func invalidCredentials(f *company) map[string]func(*http.Request) {
	header := func(values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header["Authorization"] = values }
	}
	return map[string]func(*http.Request){
		"missing":             header(),
		"empty":               header(""),
		"no token":            header("Bearer"),
		"no token but space":  header("Bearer "),
		"no scheme":           header(f.token),
		"another scheme":      header("Basic " + f.token),
		"a scheme run on":     header("Bearer" + f.token),
		"unknown":             header("Bearer cb_" + strings.Repeat("0", 43)),
		"cut off":             header("Bearer " + f.token[:len(f.token)-1]),
		"too long":            header("Bearer " + f.token + "0"),
		"in another case":     header("Bearer " + strings.ToUpper(f.token)),
		"another prefix":      header("Bearer xy_" + f.token[3:]),
		"of the platform":     header("Bearer " + f.suite.platformToken),
		"in quotes":           header(`Bearer "` + f.token + `"`),
		"not ASCII":           header("Bearer cb_" + strings.Repeat("é", 43)),
		"huge":                header("Bearer " + strings.Repeat("A", 20_000)),
		"in the query string": func(r *http.Request) { r.Header.Del("Authorization"); r.URL.RawQuery = "access_token=" + f.token },
	}
}

// unauthorized tries every operation with every kind of invalid credentials and
// checks that the answers are equal.
func unauthorized(t *testing.T, s *suite) {
	f := s.newCompany(t)
	same := f.withToken("").send(t, "GET", "/token", "").text
	check := func(what string, a *answer) {
		if a.status != 401 || a.code() != "unauthorized" || a.header.Get("WWW-Authenticate") != "Bearer" || a.text != same {
			t.Errorf("%s: %d %v %s", what, a.status, a.header["Www-Authenticate"], a.text)
		}
	}
	for _, op := range s.public.Operations {
		check(op.ID, f.withToken("").sendExample(t, op))
	}
	for name, change := range invalidCredentials(f) {
		check(name, f.send(t, "GET", "/courses", "", change))
	}
	revoked, err := s.CreateToken(t.Context(), app.TokenInput{Company: f.id, Name: "revoked", Scopes: []string{"b2b_read"}})
	if err == nil {
		_, err = s.RevokeToken(t.Context(), revoked.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	check("revoked", f.withToken(revoked.Token).send(t, "GET", "/courses", ""))
	for _, scheme := range []string{"bearer ", "BEARER "} {
		a := f.send(t, "GET", "/courses", "", func(r *http.Request) { r.Header.Set("Authorization", scheme+f.token) })
		if a.status != 200 {
			t.Errorf("scheme %q: %d; the names of schemes have no case", scheme, a.status)
		}
	}
	platform := s.platformCaller()
	same = platform.withToken("").send(t, "GET", "/companies", "").text
	for _, op := range s.platform.Operations {
		check(op.ID, platform.withToken("").sendExample(t, op))
		check(op.ID+" with a company's token", platform.withToken(f.token).sendExample(t, op))
	}
}

// forbidden tries every operation with every scope except the one that it needs.
func forbidden(t *testing.T, s *suite) {
	f, gone := s.newCompany(t), s.newCompany(t)
	all := []string{"b2b_read", "b2b_provision", "b2b_assignment"}
	without := map[string]string{}
	for _, scope := range all {
		without[scope] = f.createToken(t, slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == scope })...)
	}
	if _, err := s.store.SuspendCompany(t.Context(), domain.Actor{Kind: domain.ActorOperator}, gone.id, true); err != nil {
		t.Fatal(err)
	}
	gone.waitForStatus(t, 403)
	for _, op := range s.public.Operations {
		for _, scope := range op.Scopes {
			if scope != "b2b_api" {
				a := f.withToken(without[scope]).sendExample(t, op)
				a.wantFailure(t, op.ID, 403, "insufficient_scope", scope)
			}
		}
		gone.sendExample(t, op).wantFailure(t, op.ID, 403, "company_suspended", "suspended")
	}
	for _, c := range []struct {
		from   string
		status int
		code   string
	}{{"192.0.2.0/24", 403, "address_not_allowed"}, {"127.0.0.0/8", 200, ""}} {
		made, err := s.CreateToken(t.Context(), app.TokenInput{Company: f.id, Name: "from " + c.from, Scopes: all, Allow: []string{c.from}})
		if err != nil {
			t.Fatal(err)
		}
		if a := f.withToken(made.Token).send(t, "GET", "/token", ""); a.status != c.status || a.code() != c.code {
			t.Errorf("a token for %s: %d %s", c.from, a.status, a.text)
		}
	}
}

// waitForStatus reads the token until the answer has the status, at most a second:
// the bound for changes made by another process.
func (f *company) waitForStatus(t *testing.T, status int) {
	t.Helper()
	began := time.Now()
	for {
		asked := time.Now()
		if f.send(t, "GET", "/token", "").status == status {
			return
		}
		if asked.Sub(began) > time.Second {
			t.Fatalf("no %d after a second", status)
		}
	}
}

// invalid sends every operation an invalid request, and one for records that do not
// exist.
func invalid(t *testing.T, s *suite) {
	f := s.newCompany(t)
	wrong := strings.NewReplacer("{externalId}", "%00", "{id}", "abc", "{companyId}", "abc")
	for _, c := range []caller{f.caller, s.platformCaller()} {
		for _, op := range c.contract.Operations {
			path, body := wrong.Replace(op.Path), op.Body
			switch {
			case body != "":
				path, body = missingPaths.Replace(op.Path), "[]"
			case strings.HasPrefix(op.Path, "/reports/assignments"):
				path += "?status=x"
			case strings.HasPrefix(op.Path, "/reports/employees"):
				path += "?tag="
			case op.ID == "listCourses" || op.ID == "getToken":
				path += "?x=%zz" // there is no parameter to get wrong
			case !strings.Contains(op.Path, "{"):
				path += "?limit=0"
			}
			if slices.Contains(op.Statuses(), 400) {
				c.send(t, op.Method, path, body).wantFailure(t, op.ID, 400, "invalid_request", "")
			}
			if slices.Contains(op.Statuses(), 404) && op.ID != "createAssignment" {
				if a := c.sendExample(t, op); a.status != 404 || !strings.HasSuffix(a.code(), "_not_found") {
					t.Errorf("%s about nobody: %d %s", op.ID, a.status, a.text)
				}
			}
		}
	}
}

// tooLarge sends bodies of more than 1 MiB, with and without Content-Length.
func tooLarge(t *testing.T, s *suite) {
	f := s.newCompany(t)
	const limit = 1 << 20
	pad := func(n int) string { return `{"x":"` + strings.Repeat("x", n-len(`{"x":""}`)) + `"}` }
	chunked := func(r *http.Request) {
		r.ContentLength, r.Body = -1, io.NopCloser(io.MultiReader(r.Body))
	}
	for _, c := range []caller{f.caller, s.platformCaller()} {
		for _, op := range c.contract.Operations {
			if op.Body == "" {
				continue
			}
			path := missingPaths.Replace(op.Path)
			for name, change := range map[string]func(*http.Request){"": func(*http.Request) {}, "chunked ": chunked} {
				c.send(t, op.Method, path, pad(limit+1), change).wantFailure(t, name+op.ID, 413, "payload_too_large", "1 MiB")
				c.send(t, op.Method, path, pad(3*limit), change).wantFailure(t, name+op.ID, 413, "payload_too_large", "1 MiB")
				if a := c.send(t, op.Method, path, pad(limit), change); a.status != 400 && a.status != 404 {
					t.Errorf("%s%s: a body of 1 MiB is %d %.200s", name, op.ID, a.status, a.text)
				}
			}
			c.withToken("").send(t, op.Method, path, pad(limit+1)).wantFailure(t, op.ID+" without a token", 401, "unauthorized", "")
		}
	}
}
