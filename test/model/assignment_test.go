package model

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"pgregory.net/rapid"
)

var assignmentExternals = []string{"a1", "a2", "a3", "x/y?#&", "a 4%", "a5", "a6", "a7"}

// request is a random assignment input.
type request struct {
	employee, external string
	course             int64
	deadline           *time.Time
	required           *bool
	failure            *failure // of the values themselves
}

// minutes returns an instant that lies minutes away from the sequence.
func (s *sequence) minutes(n int) time.Time { return s.start.Add(time.Duration(n) * time.Minute) }

func (s *sequence) request(c *company) (request, any) {
	r := request{employee: s.who(c), external: pick(s, "externalId", assignmentExternals)}
	r.course = pick(s, "course", s.courses).id
	if len(c.courses) > 0 && !s.chance("any course", 6) {
		r.course = pick(s, "course", c.courses).id
	}
	body := object{"employeeExternalId": r.employee, "courseId": r.course, "externalId": r.external}
	switch rapid.IntRange(0, 9).Draw(s.T, "deadline") {
	case 0:
		body["deadline"] = nil
	case 1, 2:
		at := s.minutes(pick(s, "minutes", []int{-20, 20, 50_000}))
		r.deadline, body["deadline"] = &at, at.In(time.FixedZone("", pick(s, "offset", []int{0, 5*3600 + 1800}))).Format(time.RFC3339Nano)
	case 3:
		at := time.Now().UTC().Add(200 * time.Millisecond).Truncate(time.Millisecond)
		r.deadline, body["deadline"], s.soon = &at, at, at
	}
	if s.chance("says required", 3) {
		required := s.chance("required", 2)
		r.required, body["isRequired"] = &required, required
	}
	switch rapid.IntRange(0, 19).Draw(s.T, "fault") {
	case 0:
		delete(body, "externalId")
		body["deadline"] = "2026-11-14"
		r.failure = &failure{http.StatusBadRequest, "invalid_request", []string{"externalId", "deadline"}}
	case 1:
		r.course, body["courseId"] = 1<<40, 1<<40
	}
	return r, body
}

// create returns the assignment that a request makes or finds, or why there is none.
func (s *sequence) create(c *company, r request, a *answer) (*assignment, *failure) {
	if r.failure != nil {
		return nil, r.failure
	}
	old := c.assignment(r.external)
	differing := old.differing(r)
	if old != nil && len(differing) == 0 {
		return old, nil
	}
	e := c.byExternal(r.employee)
	isCourse := func(x *course) bool { return x.id == r.course }
	known := slices.IndexFunc(s.courses, isCourse)
	switch {
	case e == nil && len(c.former(func(e *employee) bool { return e.external == r.employee })) > 0:
		return nil, &failure{http.StatusNotFound, "employee_offboarded", nil}
	case e == nil:
		return nil, &failure{http.StatusNotFound, "employee_not_found", nil}
	case known < 0:
		return nil, &failure{http.StatusNotFound, "course_not_found", nil}
	case !slices.ContainsFunc(c.courses, isCourse):
		return nil, &failure{http.StatusForbidden, "wrong_company", nil}
	case old != nil:
		return nil, &failure{http.StatusConflict, "idempotency_conflict", differing}
	}
	x := &assignment{company: c, employee: e, course: s.courses[known], external: r.external, assigned: a.now(), progress: progress{status: "assigned"}}
	x.required = r.required != nil && *r.required
	x.deadline = &stamp{base: x.assigned, shift: 30 * 24 * time.Hour}
	if r.deadline != nil {
		x.deadline = exactly(*r.deadline)
	}
	c.assignments, e.assignments = append(c.assignments, x), append(e.assignments, x)
	x.touch(s.step)
	c.emitAssignment("assignment.created", x, a)
	return x, nil
}

// differing names the fields in which a repeated request differs from the assignment.
func (a *assignment) differing(r request) []string {
	var out []string
	if a == nil {
		return nil
	}
	if a.employee.external != r.employee {
		out = append(out, "employeeExternalId")
	}
	if a.course.id != r.course {
		out = append(out, "courseId")
	}
	if r.deadline != nil && (a.deadline.base != nil || !r.deadline.Equal(a.deadline.at)) {
		out = append(out, "deadline")
	}
	if r.required != nil && *r.required != a.required {
		out = append(out, "isRequired")
	}
	return out
}

func (s *sequence) assign() {
	c := s.company()
	r, body := s.request(c)
	a := s.call(c.token, http.MethodPost, apiPath("assignments"), body)
	x, failure := s.create(c, r, a)
	if failure != nil {
		a.fails(failure)
		return
	}
	a.wants(a.timed(x, object{
		"id": x.idOr(s), "externalId": x.external, "status": x.status, "assignedAt": x.assigned.orNull(), "deadline": x.deadline.orNull(),
	}))
}

// idOr returns the id of an assignment, or what learns it.
func (a *assignment) idOr(s *sequence) any {
	if a.id != 0 {
		return a.id
	}
	return s.newID("assignment", &a.id)
}

func (s *sequence) bulk() {
	c := s.company()
	n := rapid.IntRange(0, 6).Draw(s.T, "items")
	requests, items := make([]request, n), make([]any, n)
	for i := range items {
		requests[i], items[i] = s.request(c)
		if s.chance("not an object", 20) {
			requests[i].failure, items[i] = &failure{http.StatusBadRequest, "invalid_request", nil}, "text"
		}
	}
	a := s.call(c.token, http.MethodPost, apiPath("assignments", "bulk"), object{"items": items})
	results := make([]any, n)
	var made []*assignment
	for i, r := range requests {
		x, failure := s.create(c, r, a)
		if failure != nil {
			want := object{"index": i, "ok": false, "status": "error", "code": failure.code, "message": anyText}
			if len(failure.fields) > 0 {
				want["fields"] = failure.fieldErrors()
			}
			results[i] = want
			continue
		}
		id := x.idOr(s)
		if slices.Contains(made, x) { // the item that made it comes first
			id = matcher(func(got any) error { return match(got, x.id) })
		}
		made = append(made, x)
		results[i] = object{"index": i, "ok": true, "assignmentId": id, "status": x.status}
	}
	a.wants(object{"results": results})
}

// anyAssignment returns an assignment of either company, live or not, if there is one.
func (s *sequence) anyAssignment() *assignment {
	var all []*assignment
	for _, c := range s.companies {
		all = append(all, c.assignments...)
	}
	if len(all) == 0 {
		return nil
	}
	return pick(s, "assignment", all)
}

// byIDFailure returns why a company can not use an assignment by its id, or nil.
func (c *company) byIDFailure(x *assignment, again bool) *failure {
	switch {
	case x == nil:
		return &failure{http.StatusNotFound, "assignment_not_found", nil}
	case x.company != c:
		return &failure{http.StatusForbidden, "wrong_company", nil}
	case x.revoked && !again:
		return &failure{http.StatusNotFound, "assignment_revoked", nil}
	}
	return nil
}

func (s *sequence) revoke() {
	c, x := s.company(), s.anyAssignment()
	id := int64(1 << 40)
	if x != nil {
		id = x.id
	}
	a := s.call(c.token, http.MethodDelete, apiPath("assignments", strconv.FormatInt(id, 10)), nil)
	if failure := c.byIDFailure(x, true); failure != nil {
		a.fails(failure)
		return
	}
	x.revoked = true
	x.employee.assignments = slices.DeleteFunc(x.employee.assignments, func(o *assignment) bool { return o == x })
	if !slices.Contains(x.employee.gone, x) {
		x.employee.gone = append(x.employee.gone, x)
	}
	a.wants(object{"id": id, "revoked": true})
}

// readAssignment reads an assignment, its progress or its results, by either key.
func (s *sequence) readAssignment() {
	c, x := s.company(), s.anyAssignment()
	path := fmt.Sprint("assignments/", 1<<40)
	failure := c.byIDFailure(x, false)
	switch {
	case s.chance("by external id", 2):
		external := pick(s, "externalId", assignmentExternals)
		path = "assignments/by-external-id/" + escape(external)
		x, failure = c.byExternalID(external)
	case x != nil:
		path = fmt.Sprint("assignments/", x.id)
	}
	kind := pick(s, "kind", []string{"", "/progress", "/results"})
	a := s.call(c.token, http.MethodGet, apiPath(path)+kind, nil)
	if failure != nil {
		a.fails(failure)
		return
	}
	switch kind {
	case "":
		a.wants(a.full(x))
	case "/progress":
		a.wants(a.timed(x, object{"id": x.id, "completionPercent": x.percent, "lastActivityAt": x.lastActivity(), "status": x.status}))
	default:
		state, summary := x.completion(x.course.rule)
		want := a.timed(x, object{
			"id": x.id, "score": number2OrNull(x.score), "numberOfAttempts": x.attempts, "status": x.status, "completedAt": x.ended.orNull(),
			"resultSummary": object{"completionState": state, "isPassed": x.status == "completed", "finalScore": number2OrNull(x.score), "summary": summary},
		})
		delete(want, "isOverdue")
		a.wants(want)
	}
}

func (c *company) byExternalID(external string) (*assignment, *failure) {
	if x := c.assignment(external); x != nil {
		return x, nil
	}
	for _, x := range c.assignments {
		if x.external == external {
			return nil, &failure{http.StatusNotFound, "assignment_revoked", nil}
		}
	}
	return nil, &failure{http.StatusNotFound, "assignment_not_found", nil}
}
