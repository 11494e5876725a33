package model

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"pgregory.net/rapid"
)

// courseInput is a whole course, as the platform puts it.
type courseInput struct {
	name       string
	assessment bool
	passMark   float64
	attempts   int
	modules    []string
}

func (s *sequence) courseExternal(i int) string { return fmt.Sprintf("s%d/course %d", s.number, i) }

func coursePath(external string) string { return "/platform/v1/courses/" + escape(external) }

func (s *sequence) putCourse() {
	attempts := rapid.IntRange(0, 2).Draw(s.T, "attempts")
	s.put(rapid.IntRange(0, 3).Draw(s.T, "course"), courseInput{
		name: pick(s, "name", []string{"First", "@Second", "Третий"}), assessment: s.chance("assessment", 2),
		passMark: pick(s, "pass mark", []float64{0, 50.25, 80}), attempts: attempts, modules: pick(s, "modules", [][]string{{}, {"Only"}, {"One", "Two"}}),
	})
}

// put makes or changes course i. Course 3 exists only if a sequence has put it.
func (s *sequence) put(i int, in courseInput) {
	external := s.courseExternal(i)
	body := object{"name": in.name, "isAssessment": in.assessment, "passMark": in.passMark, "attempts": in.attempts, "modules": in.modules}
	a := s.call(s.world.platform, http.MethodPut, coursePath(external), body)
	after := course{external: external, name: in.name, modules: in.modules, rule: rule{in.assessment, in.passMark, in.attempts}}
	if i == len(s.courses) {
		a.wants(object{"courseId": s.newID("course", &after.id), "status": "created"})
		s.courses = append(s.courses, &after)
		return
	}
	old := s.courses[i]
	after.id = old.id
	status := "updated"
	if old.name == after.name && old.rule == after.rule && slices.Equal(old.modules, after.modules) {
		status = "unchanged"
	}
	renamed := old.name != after.name
	*old = after
	if renamed {
		s.touchAll(old)
	}
	a.wants(object{"courseId": old.id, "status": status})
}

func (s *sequence) touchAll(of *course) {
	for _, c := range s.companies {
		for _, x := range c.liveAssignments() {
			if x.course == of {
				x.touch(s.step)
			}
		}
	}
}

func (s *sequence) changeGrant() {
	of, c := pick(s, "course", s.courses), s.company()
	switch rapid.IntRange(0, 5).Draw(s.T, "grant") {
	case 0:
		a := s.call(s.world.platform, http.MethodPut, coursePath("nothing")+"/companies/"+strconv.FormatInt(c.id, 10), nil)
		a.fails(&failure{http.StatusNotFound, "course_not_found", nil})
	case 1:
		a := s.call(s.world.platform, http.MethodPut, coursePath(of.external)+"/companies/1099511627776", nil)
		a.fails(&failure{http.StatusNotFound, "company_not_found", nil})
	case 2, 3:
		c.courses = slices.DeleteFunc(c.courses, func(x *course) bool { return x == of })
		a := s.call(s.world.platform, http.MethodDelete, coursePath(of.external)+"/companies/"+strconv.FormatInt(c.id, 10), nil)
		a.wants(object{"courseId": of.id, "companyId": c.id, "granted": false})
	default:
		s.grant(of, c)
	}
}

func (s *sequence) grant(of *course, c *company) {
	if !slices.Contains(c.courses, of) {
		c.courses = append(c.courses, of)
	}
	a := s.call(s.world.platform, http.MethodPut, coursePath(of.external)+"/companies/"+strconv.FormatInt(c.id, 10), nil)
	a.wants(object{"courseId": of.id, "companyId": c.id, "granted": true})
}

// report sends activities of the learners of both companies.
func (s *sequence) report() {
	n := rapid.IntRange(1, 4).Draw(s.T, "items")
	acts, items, failures := make([]activity, n), make([]any, n), make([]*failure, n)
	for i := range items {
		acts[i], items[i], failures[i] = s.activity()
	}
	a := s.call(s.world.platform, http.MethodPost, "/platform/v1/activities", object{"items": items})
	now, results := a.now(), make([]any, n)
	for i, act := range acts {
		if act.at == nil {
			act.at = now
		}
		if failures[i] != nil {
			results[i] = object{"index": i, "ok": false, "code": failures[i].code, "message": anyText}
			continue
		}
		s.record(act, a)
		results[i] = object{"index": i, "ok": true, "status": act.of.status}
	}
	a.wants(object{"results": results})
}

// activity returns a random activity; its failure is nil if it is accepted.
func (s *sequence) activity() (activity, object, *failure) {
	act := activity{id: fmt.Sprintf("s%d-%d", s.number, rapid.IntRange(1, 200).Draw(s.T, "id")), of: s.anyAssignment()}
	act.kind = pick(s, "type", []string{"started", "progress", "attempt_finished", "attempt_finished"})
	item := object{"id": act.id, "type": act.kind, "assignmentId": int64(1 << 40)}
	var refused *failure
	switch {
	case act.of == nil:
		refused = &failure{code: "assignment_not_found"}
	case act.of.revoked:
		refused = &failure{code: "assignment_revoked"}
	}
	if act.of != nil {
		item["assignmentId"] = act.of.id
	}
	if act.kind == "progress" || s.chance("percent", 4) {
		percent := pick(s, "completionPercent", []float64{0, 12.5, 60, 100})
		act.percent, item["completionPercent"] = &percent, percent
	}
	if act.kind == "attempt_finished" {
		score := pick(s, "score", []float64{0, 50.25, 79.99, 80, 100})
		act.score, item["score"] = &score, score
	}
	if s.chance("dated", 3) {
		at := s.minutes(pick(s, "minutes", []int{-40, -30, -20, 30, 40}))
		act.at, item["occurredAt"] = exactly(at), at.Format(time.RFC3339Nano)
	}
	switch rapid.IntRange(0, 19).Draw(s.T, "fault") {
	case 0:
		item["type"], refused = "finished", &failure{code: "invalid_request"}
	case 1:
		item["occurredAt"], refused = s.minutes(25*60).Format(time.RFC3339Nano), &failure{code: "invalid_request"}
	}
	return act, item, refused
}

// record applies an activity, unless one with its id was recorded before.
func (s *sequence) record(act activity, a *answer) {
	x := act.of
	if s.recorded[act.id] != nil {
		return
	}
	s.recorded[act.id] = x
	before := x.status
	if !x.apply(x.course.rule, act) {
		return
	}
	x.touch(s.step)
	if x.status != before && (x.status == "completed" || x.status == "failed") {
		x.company.emitAssignment("assignment."+x.status, x, a)
	}
}

func (s *sequence) listCompanies() {
	limit := pick(s, "limit", []int{1, 3, 500})
	all := s.world.companies
	page := rapid.IntRange(1, len(all)/limit+2).Draw(s.T, "page")
	a := s.call(s.world.platform, http.MethodGet, fmt.Sprintf("/platform/v1/companies?limit=%d&page=%d", limit, page), nil)
	items := []any{}
	for _, c := range part(all, page, limit) {
		items = append(items, object{"id": c.id, "name": c.name, "timeZone": "UTC", "suspended": false})
	}
	a.wants(object{"items": items, "pagination": pagination(page, limit, len(all))})
}

// refused sends requests that are wrong in themselves.
func (s *sequence) refused() {
	c := s.company()
	unauthorized := &failure{http.StatusUnauthorized, "unauthorized", nil}
	invalid := func(fields ...string) *failure { return &failure{http.StatusBadRequest, "invalid_request", fields} }
	switch rapid.IntRange(0, 8).Draw(s.T, "kind") {
	case 0:
		s.call(s.world.platform, http.MethodGet, apiPath("employees"), nil).fails(unauthorized)
	case 1:
		s.call(c.token, http.MethodGet, "/platform/v1/companies", nil).fails(unauthorized)
	case 2:
		s.call(c.token, http.MethodGet, apiPath("employees?page=0&limit=501"), nil).fails(invalid("page", "limit"))
	case 3:
		s.call(c.token, http.MethodGet, apiPath("assignments?status=done&courseId=x"), nil).fails(invalid("status", "courseId"))
	case 4:
		s.call(c.token, http.MethodPost, apiPath("employees", "provision"), object{"externalId": " x", "email": "x", "name": ""}).
			fails(invalid("externalId", "email", "name"))
	case 5:
		s.call(c.token, http.MethodPatch, apiPath("employees", "e1"), object{"name": nil, "tags": "a"}).fails(invalid("name", "tags"))
	case 6:
		s.call(c.token, http.MethodGet, apiPath("reports", "assignments.csv?status=done"), nil).fails(invalid("status"))
	case 7:
		s.call(c.token, http.MethodPost, apiPath("assignments", "bulk"), object{"items": make([]int, 501)}).fails(invalid("items"))
	default:
		s.call(s.world.platform, http.MethodPut, coursePath(s.courseExternal(0)), object{"name": "", "attempts": -1}).fails(invalid("name", "attempts"))
	}
}
