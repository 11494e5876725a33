package security

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/apicheck"
	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// secretMark is part of every text of the victim that an attacker does not know.
const secretMark = "SecretOfTheVictim"

// company is a company with a token that has every scope.
type company struct {
	t       *testing.T
	program *apptest.Program
	id      int64
	name    string
	token   string
}

func newCompany(t *testing.T, p *apptest.Program, name string) company {
	t.Helper()
	made, err := p.CreateCompany(t.Context(), name, strings.ToLower(strings.Fields(name)[0])+"@office.example", "UTC")
	if err != nil {
		t.Fatal(err)
	}
	c := company{t: t, program: p, id: made.CompanyID, name: name}
	c.token = c.createToken(scopes...)
	return c
}

func (c company) createToken(scopes ...string) string {
	c.t.Helper()
	made, err := c.program.CreateToken(c.t.Context(), app.TokenInput{Company: c.id, Name: "Token of " + c.name, Scopes: scopes})
	if err != nil {
		c.t.Fatal(err)
	}
	return made.Token
}

// send calls a path below the server's address and returns the status and the body.
func (c company) send(method, path string, body any) (status int, text string) {
	c.t.Helper()
	return send(c.t, request{method, c.program.URL + path, c.token, body})
}

type request struct {
	method, url, token string
	body               any // nil: none
}

func send(t *testing.T, in request) (status int, text string) {
	t.Helper()
	var body io.Reader = http.NoBody
	if in.body != nil {
		raw, err := json.Marshal(in.body)
		if err != nil {
			t.Fatal(err)
		}
		body = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(t.Context(), in.method, in.url, body)
	if err != nil {
		t.Fatal(err)
	}
	if in.token != "" {
		r.Header.Set("Authorization", "Bearer "+in.token)
	}
	resp, err := apicheck.NewTransport(t, http.DefaultTransport).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", in.method, in.url, err)
	}
	return resp.StatusCode, string(raw)
}

func (c company) mustSend(method, path string, body any) string {
	c.t.Helper()
	status, text := c.send(method, path, body)
	if status != http.StatusOK {
		c.t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	return text
}

// victim is a company with a record of every kind. Its identifiers are known to the
// attacker, its names and tags are not.
type victim struct {
	company
	store *store.Store
	ids   []string // of every kind of record, as they appear in paths
}

func newVictim(t *testing.T, p *apptest.Program) victim {
	t.Helper()
	v := victim{company: newCompany(t, p, "Victim "+secretMark)}
	var err error
	if v.store, err = store.Open(t.Context(), p.Database); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.store.Close() })
	if _, err := p.AddWebhook(t.Context(), app.WebhookInput{
		Company: v.id, URL: "https://hooks.example.com/" + secretMark, Events: []string{"employee.joined", "employee.removed", "assignment.created"},
	}); err != nil {
		t.Fatal(err)
	}
	course, err := p.AddCourse(t.Context(), v.id, app.CourseInput{Name: "Course " + secretMark, ExternalID: "basics", PassMark: 80, Modules: []string{"One", "Two"}})
	if err != nil {
		t.Fatal(err)
	}
	slice, err := p.SliceCourse(t.Context(), v.id, course.CourseID, "Slice "+secretMark, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"HR-1", "HR-2"} {
		v.mustSend(http.MethodPost, "/api/v1/employees/provision", map[string]any{"externalId": id, "email": id + "@people.example", "name": secretMark})
		v.mustSend(http.MethodPatch, "/api/v1/employees/"+id, map[string]any{"tags": []string{secretMark}})
	}
	v.mustSend(http.MethodPost, "/api/v1/assignments", map[string]any{"employeeExternalId": "HR-1", "courseId": course.CourseID, "externalId": "A-1"})
	v.mustSend(http.MethodPost, "/api/v1/assignments", map[string]any{"employeeExternalId": "HR-2", "courseId": slice.CourseID, "externalId": "A-2"})
	v.mustSend(http.MethodPatch, "/api/v1/employees/HR-2", map[string]any{"active": false})
	v.readIDs()
	return v
}

// readIDs collects the identifiers of the victim's records from every table that has
// any, so that those of a new kind of record are tried too.
func (v *victim) readIDs() {
	v.t.Helper()
	seen := map[string]bool{}
	for _, table := range storetest.Tables(v.t, v.store) {
		names, _ := storetest.Columns(v.t, v.store, table)
		owner, ids := "", []string{}
		for _, name := range names {
			switch {
			case name == "company_id" || name == "owner_company_id" && table == "courses":
				owner = name
			case name == "id" || name == "external_id":
				ids = append(ids, name)
			}
		}
		for _, id := range ids {
			if owner == "" {
				continue
			}
			sql := fmt.Sprintf(`SELECT DISTINCT CAST(%s AS text) FROM %s WHERE %s = $1 AND %[1]s IS NOT NULL`, id, table, owner)
			for _, value := range storetest.Texts(v.t, v.store, sql, v.id) {
				if !seen[value] && value != "" {
					seen[value] = true
					v.ids = append(v.ids, value)
				}
			}
		}
	}
	if len(v.ids) < 10 {
		v.t.Fatalf("the victim has only these identifiers: %v", v.ids)
	}
}

// rows returns everything that the database holds about the victim.
func (v *victim) rows() []string {
	v.t.Helper()
	return storetest.CompanyRows(v.t, v.store, v.id)
}
