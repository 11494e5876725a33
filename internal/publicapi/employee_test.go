package publicapi_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/publicapi"
)

var anna = domain.Employee{
	CompanyID: 12, ID: 5031, ExternalID: "HR-1042", Email: "anna@northwind.example", Name: "Anna Kowalska",
	Role: domain.RoleEmployee, Tags: []string{"warehouse"}, JoinedAt: now,
}

const annaJSON = `{"id":5031,"externalId":"HR-1042","email":"anna@northwind.example","name":"Anna Kowalska",` +
	`"role":"employee","tags":["warehouse"],"joinedAt":"2026-11-14T09:30:00+00:00"}`

// wantData checks a success body byte by byte: it has exactly the fields of the
// contract, in its order.
func wantData(t *testing.T, rec *httptest.ResponseRecorder, data string) {
	t.Helper()
	want := `{"result":"success","data":` + data + `}`
	if rec.Code != 200 || rec.Body.String() != want {
		t.Errorf("got %d %s\nwant %s", rec.Code, rec.Body, want)
	}
	if got := rec.Header().Get("Content-Type"); got != "application/json; charset=utf-8" {
		t.Errorf("Content-Type %s", got)
	}
}

func TestProvision(t *testing.T) {
	t.Parallel()
	f := &fake{employee: anna, provision: domain.ProvisionLinked}
	h := newAPI(t, f, publicapi.Options{})
	rec := h.ask(allToken, "POST", "/employees/provision",
		`{"externalId":" x","email":" A@b.c ","name":" Anna ","unknown":{"deep":[1,2]},"name":"Ann"}`)
	wantData(t, rec, `{"id":5031,"externalId":"HR-1042","email":"anna@northwind.example","status":"linked"}`)
	// Values go to the service as they are: the rules about them are the domain's.
	want := []any{domain.Provision{ExternalID: " x", Email: " A@b.c ", Name: "Ann"}}
	if diff := cmp.Diff(want, f.called); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestProvisionRefuses(t *testing.T) {
	t.Parallel()
	f := &fake{}
	h := newAPI(t, f, publicapi.Options{})
	for _, c := range []struct{ body, fields string }{
		{``, ""},
		{`null`, ""},
		{`[]`, ""},
		{`"x"`, ""},
		{`{`, ""},
		{`{"externalId":"a","email":"a@b.c","name":"A"} x`, ""},
		{"{\"externalId\":\"a\",\"email\":\"a@b.c\",\"name\":\"\xff\"}", "name"},
		{`{"externalId":"a","email":"a@b.c","name":"\ud800"}`, "name"},
		{strings.Repeat(`{"a":`, 5000) + `1` + strings.Repeat(`}`, 5000), ""},
		{`{}`, "externalId email name"},
		{`{"externalId":null,"email":null,"name":null}`, "externalId email name"},
		{`{"externalId":7,"email":[],"name":{}}`, "externalId email name"},
		{`{"externalId":7,"email":"nobody","name":"A"}`, "externalId email"},
		{`{"email":"a@b.c","name":"A\u0000"}`, "externalId name"},
	} {
		rec := h.ask(allToken, "POST", "/employees/provision", c.body)
		if got := failureOf(t, rec); rec.Code != 400 || got.Code != "invalid_request" || got.fields() != c.fields {
			t.Errorf("%.60s: %d %s", c.body, rec.Code, rec.Body)
		}
	}
	if f.called != nil {
		t.Errorf("the service was asked for %v", f.called)
	}
}

func TestBodiesPastTheLimit(t *testing.T) {
	t.Parallel()
	h := newAPI(t, &fake{bulk: func([]domain.BulkItem) []domain.BulkResult { return nil }}, publicapi.Options{})
	for _, c := range []struct{ method, path string }{
		{"POST", "/employees/provision"}, {"PATCH", "/employees/a"}, {"POST", "/assignments"}, {"POST", "/assignments/bulk"},
	} {
		for name, body := range map[string]string{"one value": `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, "blanks": strings.Repeat(" ", 1<<20+1)} {
			rec := h.ask(allToken, c.method, c.path, body)
			if got := failureOf(t, rec); rec.Code != 413 || got.Code != "payload_too_large" {
				t.Errorf("%s %s with %s: %d %s", c.method, c.path, name, rec.Code, rec.Body)
			}
		}
	}
}

func TestContentTypeDoesNotMatter(t *testing.T) {
	t.Parallel()
	h := newAPI(t, &fake{}, publicapi.Options{})
	for _, kind := range []string{"", "application/json", "text/plain", "application/x-www-form-urlencoded", ";;;", "multipart/form-data"} {
		r := httptest.NewRequest(http.MethodPost, "/api/v1/employees/provision", strings.NewReader(`{"externalId":"a","email":"a@b.c","name":"A"}`))
		r.Header.Set("Authorization", "Bearer all")
		if kind != "" {
			r.Header.Set("Content-Type", kind)
		}
		rec := httptest.NewRecorder()
		if h.ServeHTTP(rec, r); rec.Code != 200 {
			t.Errorf("%q: %d %s", kind, rec.Code, rec.Body)
		}
	}
}

func TestGetEmployee(t *testing.T) {
	t.Parallel()
	f := &fake{employee: anna}
	h := newAPI(t, f, publicapi.Options{})
	withNone := strings.TrimSuffix(annaJSON, "}") + `,"assignments":[]}`
	wantData(t, h.ask(allToken, "GET", "/employees/HR-1042", ""), withNone)
	f.list.Items = []domain.Assignment{passed}
	wantData(t, h.ask(allToken, "GET", "/employees/HR-1042", ""), strings.TrimSuffix(annaJSON, "}")+`,"assignments":[`+passedJSON+`]}`)
	f.employee.Tags = nil
	if rec := h.ask(allToken, "GET", "/employees/HR-1042", ""); !strings.Contains(rec.Body.String(), `"tags":[]`) {
		t.Errorf("no tags: %s", rec.Body)
	}
}

// A large employee is read and encoded in pages, which nobody can tell from the answer.
func TestGetLargeEmployee(t *testing.T) {
	t.Parallel()
	f := &fake{employee: anna}
	h := newAPI(t, f, publicapi.Options{})
	for _, n := range []int{0, 1, 3, 4, 200} {
		f.list.Items = slices.Repeat([]domain.Assignment{passed}, n)
		f.isLarge = false
		want := h.ask(allToken, "GET", "/employees/HR-1042", "")
		f.isLarge = true
		got := h.ask(allToken, "GET", "/employees/HR-1042", "")
		if got.Code != 200 || got.Body.String() != want.Body.String() {
			t.Errorf("%d assignments:\n%d %s\nwant\n%s", n, got.Code, got.Body, want.Body)
		}
	}
	f.err = domain.ErrEmployeeOffboarded
	if rec := h.ask(allToken, "GET", "/employees/HR-1042", ""); rec.Code != 404 {
		t.Errorf("offboarded meanwhile: %d %s", rec.Code, rec.Body)
	}
}

// stalledWriter is a client that does not read the answer until release is closed.
type stalledWriter struct {
	*httptest.ResponseRecorder
	release chan struct{}
}

func (w *stalledWriter) Write(p []byte) (int, error) {
	<-w.release
	return w.ResponseRecorder.Write(p)
}

// Clients that do not read large answers can't make the server keep any number of them.
func TestLargeAnswersInMemoryAreBounded(t *testing.T) {
	t.Parallel()
	var reading atomic.Int64
	f := &fake{employee: anna, isLarge: true, onPages: func() { reading.Add(1) }}
	f.list.Items = []domain.Assignment{passed}
	h := newAPI(t, f, publicapi.Options{})
	release := make(chan struct{})
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			w := &stalledWriter{httptest.NewRecorder(), release}
			r := httptest.NewRequest(http.MethodGet, "/api/v1/employees/HR-1042", nil)
			r.Header.Set("Authorization", "Bearer "+allToken)
			if h.ServeHTTP(w, r); w.Code != 200 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	for reading.Load() < 16 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond) // another one would be read meanwhile
	if n := reading.Load(); n != 16 {
		t.Errorf("%d large answers were kept for clients that do not read them", n)
	}
	close(release)
	all.Wait()
	if n := reading.Load(); n != 50 {
		t.Errorf("%d of 50 answers", n)
	}
}

func TestUpdateEmployee(t *testing.T) {
	t.Parallel()
	ptr := func(s string) *string { return &s }
	no := false
	for _, c := range []struct {
		body string
		want domain.EmployeePatch
	}{
		{``, domain.EmployeePatch{}},
		{" \n", domain.EmployeePatch{}},
		{`{}`, domain.EmployeePatch{}},
		{`{"unknown":1}`, domain.EmployeePatch{}},
		{`{"name":"","tags":[],"email":"x","active":false}`, domain.EmployeePatch{Name: ptr(""), Tags: &[]string{}, Email: ptr("x"), Active: &no}},
		{`{"tags":["b","a","b"]}`, domain.EmployeePatch{Tags: &[]string{"b", "a", "b"}}},
	} {
		f := &fake{patched: domain.EmployeePatched{Employee: anna}}
		wantData(t, newAPI(t, f, publicapi.Options{}).ask(allToken, "PATCH", "/employees/HR-1042", c.body), annaJSON)
		if diff := cmp.Diff([]any{"HR-1042", c.want}, f.called); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.body, diff)
		}
	}
	f := &fake{patched: domain.EmployeePatched{Offboarded: true}}
	rec := newAPI(t, f, publicapi.Options{}).ask(allToken, "PATCH", "/employees/a%2Fb", `{"active":false}`)
	wantData(t, rec, `{"externalId":"a/b","status":"offboarded"}`)
}

func TestUpdateEmployeeRefuses(t *testing.T) {
	t.Parallel()
	f := &fake{}
	h := newAPI(t, f, publicapi.Options{})
	for body, fields := range map[string]string{
		`null`:                  "",
		`[]`:                    "",
		`{"name":null}`:         "name",
		`{"tags":null}`:         "tags",
		`{"tags":"a"}`:          "tags",
		`{"active":"no"}`:       "active",
		`{"active":0}`:          "active",
		`{"email":null}`:        "email",
		`{"tags":["a",1,null]}`: "tags[1] tags[2]",
		`{"name":7,"tags":{},"email":1,"active":1}`: "name tags email active",
		`{"name":7,"email":"nobody"}`:               "name email",
	} {
		rec := h.ask(allToken, "PATCH", "/employees/a", body)
		if got := failureOf(t, rec); rec.Code != 400 || got.fields() != fields {
			t.Errorf("%s: %d %s", body, rec.Code, rec.Body)
		}
	}
	if f.called != nil {
		t.Errorf("the service was asked for %v", f.called)
	}
}

func TestDeleteEmployee(t *testing.T) {
	t.Parallel()
	f := &fake{}
	h := newAPI(t, f, publicapi.Options{})
	wantData(t, h.ask(allToken, "DELETE", "/employees/%D0%98", ""), `{"externalId":"И","status":"deleted"}`)
	f.err = domain.ErrEmployeeNotFound
	if rec := h.ask(allToken, "DELETE", "/employees/x", ""); rec.Code != 404 || failureOf(t, rec).Code != "employee_not_found" {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

func TestListEmployees(t *testing.T) {
	t.Parallel()
	f := &fake{}
	h := newAPI(t, f, publicapi.Options{})
	rec := h.ask(allToken, "GET", "/employees", "")
	wantData(t, rec, `{"items":[],"pagination":{"page":1,"limit":50,"total":0,"pages":0}}`)
	if diff := cmp.Diff([]any{domain.EmployeeFilter{}, domain.PageRequest{Number: 1, Limit: 50}}, f.called); diff != "" || rec.Header().Get("Link") != "" {
		t.Errorf("link %q, -want +got:\n%s", rec.Header().Get("Link"), diff)
	}
	rec = h.ask(allToken, "GET", "/employees?page=9223372036854775807&limit=500", "")
	wantData(t, rec, `{"items":[],"pagination":{"page":9223372036854775807,"limit":500,"total":0,"pages":0}}`)
}

// Following the links must lead on, with the filters kept.
func TestEmployeeLinks(t *testing.T) {
	t.Parallel()
	f := &fake{employees: domain.Page[domain.Employee]{Items: []domain.Employee{anna}, Total: 3, More: true}}
	h := newAPI(t, f, publicapi.Options{})
	rec := h.ask(allToken, "GET", "/employees?limit=1&tag=night+shift&email=A%2Bb%40c.d&externalId=a%2Fb", "")
	wantData(t, rec, `{"items":[`+annaJSON+`],"pagination":{"page":1,"limit":1,"total":3,"pages":3}}`)
	filter := domain.EmployeeFilter{ExternalID: "a/b", Email: "A+b@c.d", Tag: "night shift"}
	for page := 2; page < 4; page++ {
		f.employees.More = page < 3
		rec = h.ask(allToken, "GET", nextPath(t, rec), "")
		want := domain.PageRequest{Number: page, Limit: 1, After: &domain.Cursor{ID: anna.ID, Page: page - 1}}
		if diff := cmp.Diff([]any{filter, want}, f.called); diff != "" {
			t.Errorf("page %d: -want +got:\n%s", page, diff)
		}
		if !strings.Contains(rec.Body.String(), `"page":`+string(rune('0'+page))) {
			t.Errorf("page %d: %s", page, rec.Body)
		}
	}
	if link := rec.Header().Get("Link"); link != "" {
		t.Errorf("the last page leads on: %s", link)
	}
}

// nextPath returns the path of the next page from the Link header.
func nextPath(t *testing.T, rec *httptest.ResponseRecorder) string {
	t.Helper()
	target, rest, found := strings.Cut(strings.TrimPrefix(rec.Header().Get("Link"), "<"), ">")
	if !found || rest != `; rel="next"` {
		t.Fatalf("Link %q", rec.Header().Get("Link"))
	}
	u, err := url.Parse(target)
	if err != nil || u.IsAbs() || !strings.HasPrefix(u.Path, "/api/v1/") {
		t.Fatal(target, err)
	}
	return strings.TrimPrefix(target, "/api/v1")
}
