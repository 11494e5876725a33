package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// sequence is one random sequence of operations.
type sequence struct {
	*rapid.T
	world     *world
	number    int
	start     time.Time
	step      int
	companies []*company
	courses   []*course
	recorded  map[string]*assignment // activities by id
	soon      time.Time              // the latest deadline that passes during the sequence
}

// check runs one sequence.
func (w *world) check(t *rapid.T) {
	w.sequences++
	s := &sequence{T: t, world: w, number: w.sequences, start: time.Now().UTC().Truncate(time.Millisecond), recorded: map[string]*assignment{}}
	s.companies = []*company{w.newCompany(), w.newCompany()}
	for i := range 3 { // the others come up at random
		s.put(i, courseInput{name: "First", assessment: i == 0, passMark: 80, attempts: 2, modules: []string{"Only"}})
		s.grant(s.courses[i], s.companies[i%2])
	}
	s.grant(s.courses[0], s.companies[1])
	t.Repeat(s.actions())
	s.finish()
}

// actions returns the operations. An operation that comes twice is drawn twice as often.
func (s *sequence) actions() map[string]func(*rapid.T) {
	all := map[string]func(){
		"provision": s.provision, "provision 2": s.provision, "provision 3": s.provision, "patch": s.patch, "patch 2": s.patch, "delete": s.delete,
		"employee": s.readEmployee, "employees": s.listEmployees, "courses": s.listCourses, "token": s.readToken,
		"assign": s.assign, "assign 2": s.assign, "bulk": s.bulk, "revoke": s.revoke,
		"assignment": s.readAssignment, "assignment 2": s.readAssignment, "assignments": s.listAssignments, "changes": s.listChanges,
		"assignment report": s.reportAssignments, "employee report": s.reportEmployees,
		"activities": s.report, "activities 2": s.report, "activities 3": s.report,
		"course": s.putCourse, "grant": s.changeGrant, "companies": s.listCompanies, "refusals": s.refused,
	}
	out := map[string]func(*rapid.T){"": func(*rapid.T) {}}
	for name, action := range all {
		out[name] = func(t *rapid.T) {
			s.T = t
			s.step++
			action()
		}
	}
	return out
}

// answer is a response. The request was under way from began to ended.
type answer struct {
	*sequence
	request      string
	status       int
	header       http.Header
	text         []byte
	body         any
	began, ended time.Time
}

// now returns the stamp of what the service did during the request.
func (a *answer) now() *stamp { return &stamp{from: a.began, to: a.ended} }

func (s *sequence) call(token, method, path string, body any) *answer {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			s.Fatal(err)
		}
		sent = bytes.NewReader(text)
	}
	a := &answer{sequence: s, request: fmt.Sprintf("%s %s %v", method, path, body)}
	r, err := http.NewRequestWithContext(s.Context(), method, s.world.program.URL+path, sent)
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	a.began = time.Now().UTC()
	resp, err := s.world.client.Do(r)
	if err != nil {
		s.Fatalf("%s: %v", a.request, err)
	}
	defer resp.Body.Close()
	if a.text, err = io.ReadAll(resp.Body); err != nil {
		s.Fatalf("%s: %v", a.request, err)
	}
	a.ended, a.status, a.header = time.Now().UTC(), resp.StatusCode, resp.Header
	s.world.tally[a.status]++
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(a.text, &a.body); err != nil {
			s.Fatalf("%s: %v", a.request, err)
		}
	}
	return a
}

// wants checks that the request succeeded with the data.
func (a *answer) wants(data any) {
	a.Helper()
	a.check(match(a.body, object{"result": "success", "data": data}), http.StatusOK)
}

// failure is an expected refusal.
type failure struct {
	status int
	code   string
	fields []string // the names of the fields at fault
}

func (f *failure) json() object {
	out := object{"result": "error", "code": f.code, "message": anyText}
	if len(f.fields) > 0 {
		out["fields"] = f.fieldErrors()
	}
	return out
}

func (f *failure) fieldErrors() []any {
	out := make([]any, len(f.fields))
	for i, name := range f.fields {
		out[i] = object{"field": name, "message": anyText}
	}
	return out
}

// fails checks that the request was refused.
func (a *answer) fails(f *failure) {
	a.Helper()
	a.check(match(a.body, f.json()), f.status)
}

func (a *answer) check(err error, status int) {
	a.Helper()
	if a.status != status || err != nil {
		a.Fatalf("%s on %s, step %d: %d %.2000s\nwant %d: %v", a.request, a.world.engine, a.step, a.status, a.text, status, err)
	}
}

// full returns the full form of an assignment as the answer must show it.
func (a *answer) full(x *assignment) object { return a.timed(x, x.json()) }

// timed adds isOverdue and statusCategory, which depend on the time of the request.
func (a *answer) timed(x *assignment, out object) object {
	overdue, sure := x.overdue(a.began, a.ended)
	if sure {
		out["isOverdue"], out["statusCategory"] = overdue, x.category(overdue)
		return out
	}
	var shown *bool // by whichever of the two fields is looked at first
	agree := func(says bool) error {
		if shown != nil && *shown != says {
			return fmt.Errorf("isOverdue and statusCategory contradict each other")
		}
		shown = &says
		return nil
	}
	out["isOverdue"] = matcher(func(got any) error { says, _ := got.(bool); return agree(says) })
	out["statusCategory"] = matcher(func(got any) error {
		if got == x.category(true) {
			return agree(true)
		}
		if err := match(got, x.category(false)); err != nil {
			return err
		}
		return agree(false)
	})
	return out
}

// newID learns the id of a new record, which no other record of its kind has had.
func (s *sequence) newID(kind string, into *int64) matcher {
	return func(got any) error {
		n, _ := got.(float64)
		id := fmt.Sprint(kind, " ", int64(n))
		if n < 1 || s.world.ids[id] {
			return fmt.Errorf("got %v, want a new id", got)
		}
		*into, s.world.ids[id] = int64(n), true
		return nil
	}
}

// pick draws one of the values. The log of a failure shows its number.
func pick[T any](s *sequence, label string, values []T) T {
	return values[rapid.IntRange(0, len(values)-1).Draw(s.T, label)]
}

// chance is true once in n times.
func (s *sequence) chance(label string, n int) bool {
	return rapid.IntRange(1, n).Draw(s.T, label) == n
}

func (s *sequence) company() *company { return pick(s, "company", s.companies) }

func escape(s string) string { return url.PathEscape(s) }

// apiPath returns a path of the public API.
func apiPath(parts ...string) string { return "/api/v1/" + strings.Join(parts, "/") }
