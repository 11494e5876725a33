package model

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// The values that sequences choose from. They are few, so that requests meet the same
// records, and some are hard to escape.
var (
	externals = []string{"e1", "E1", "dept/7 №3", "provision", "a%2Fb+c?#"}
	names     = []string{"Ann", "=1+1, Ltd", "Боб \"Q\"\u00a0Ж", "Zoë 🎓"}
	tags      = []string{"a", "b c", "Ü;x"}
)

// email returns one of few addresses, which no other sequence has, in any case.
func (s *sequence) email() string {
	who := pick(s, "email", []string{"ann", "Ann", "bob", "cyd", "dee"})
	return fmt.Sprintf("%s@s%d.example", who, s.number)
}

// who returns the identifier of an employee, mostly of one that the company has.
func (s *sequence) who(c *company) string {
	if live := c.live(); len(live) > 0 && !s.chance("anybody", 5) {
		return pick(s, "employee", live).external
	}
	return pick(s, "externalId", externals)
}

// hasAccount reports whether any company has or had an employee with the address.
func (s *sequence) hasAccount(email string) bool {
	for _, c := range s.companies {
		for _, e := range c.employees {
			if strings.EqualFold(e.email, email) {
				return true
			}
		}
	}
	return false
}

func (s *sequence) provision() {
	c, external, email, name := s.company(), pick(s, "externalId", externals), s.email(), pick(s, "name", names)
	a := s.call(c.token, http.MethodPost, apiPath("employees", "provision"), object{"externalId": external, "email": email, "name": name})
	found := func(e *employee, status string) {
		a.wants(object{"id": e.id, "externalId": external, "email": e.email, "status": status})
	}
	isFormer := func(e *employee) bool { return strings.EqualFold(e.email, email) }
	if e := c.byExternal(external); e != nil {
		if !strings.EqualFold(e.email, email) {
			a.fails(&failure{http.StatusConflict, "external_id_taken", nil})
			return
		}
		found(e, "found")
		return
	}
	if c.byEmail(email) != nil {
		a.fails(&failure{http.StatusConflict, "email_taken", nil})
		return
	}
	if former := c.former(isFormer); len(former) > 0 {
		e := former[0]
		e.external, e.email, e.name = external, email, name
		c.comesBack(e, a)
		found(e, "linked")
		return
	}
	status := "created"
	if s.hasAccount(email) {
		status = "linked"
	}
	e := &employee{external: external, email: email, name: name, joined: a.now()}
	a.wants(object{"id": s.newID("employee", &e.id), "externalId": external, "email": email, "status": status})
	c.employees = append(c.employees, e)
	c.emit("employee.joined", e, a, e.json())
}

// comesBack makes a former employee a live one.
func (c *company) comesBack(e *employee, a *answer) {
	e.left, e.joined, e.assignments = 0, a.now(), nil
	c.emit("employee.joined", e, a, e.json())
}

// leaves offboards an employee.
func (c *company) leaves(e *employee, a *answer) {
	e.left = a.step
	for _, x := range e.assignments {
		x.revoked = true
	}
	e.gone, e.assignments = append(e.gone, e.assignments...), nil
	c.emit("employee.removed", e, a, object{"id": e.id, "externalId": e.external, "reason": "offboarded"})
}

// change is a random PATCH of an employee.
type change struct {
	name, email *string
	tags        *[]string
	active      *bool
}

func (s *sequence) change() (change, object) {
	var c change
	body := object{}
	if s.chance("names", 3) {
		name := pick(s, "name", names)
		c.name, body["name"] = &name, "  "+name+" "
	}
	if s.chance("tagged", 3) {
		list := rapid.SliceOfN(rapid.SampledFrom(tags), 0, 4).Draw(s.T, "tags")
		body["tags"] = list
		unique := []string{}
		for _, tag := range list {
			if !slices.Contains(unique, tag) {
				unique = append(unique, tag)
			}
		}
		c.tags = &unique
	}
	if s.chance("moves", 3) {
		email := s.email()
		c.email, body["email"] = &email, email
	}
	if s.chance("membership", 2) {
		active := !s.chance("leaves", 3)
		c.active, body["active"] = &active, active
	}
	return c, body
}

func (c change) apply(e *employee) {
	if c.name != nil {
		e.name = *c.name
	}
	if c.email != nil {
		e.email = *c.email
	}
	if c.tags != nil {
		e.tags = *c.tags
	}
}

func (s *sequence) patch() {
	c := s.company()
	external := s.who(c)
	change, body := s.change()
	a := s.call(c.token, http.MethodPatch, apiPath("employees", escape(external)), body)
	former := c.former(func(e *employee) bool { return e.external == external })
	e := c.byExternal(external)
	offboarded := object{"externalId": external, "status": "offboarded"}
	switch {
	case e != nil:
		s.patchLive(a, c, e, change)
	case len(former) == 0:
		a.fails(&failure{http.StatusNotFound, "employee_not_found", nil})
	case change.active == nil:
		a.fails(&failure{http.StatusNotFound, "employee_offboarded", nil})
	case !*change.active:
		a.wants(offboarded)
	default:
		back := *former[0]
		change.apply(&back)
		if c.byEmail(back.email) != nil {
			a.fails(&failure{http.StatusConflict, "email_taken", nil})
			return
		}
		*former[0] = back
		c.comesBack(former[0], a)
		a.wants(former[0].json())
	}
}

func (s *sequence) patchLive(a *answer, c *company, e *employee, change change) {
	if change.email != nil && c.byEmail(*change.email) != nil && c.byEmail(*change.email) != e {
		a.fails(&failure{http.StatusConflict, "email_taken", nil})
		return
	}
	before := e.email
	change.apply(e)
	if e.email != before {
		for _, x := range e.assignments {
			x.touch(s.step)
		}
	}
	if change.active != nil && !*change.active {
		c.leaves(e, a)
		a.wants(object{"externalId": e.external, "status": "offboarded"})
		return
	}
	a.wants(e.json())
}

func (s *sequence) delete() {
	c, external := s.company(), pick(s, "externalId", externals)
	a := s.call(c.token, http.MethodDelete, apiPath("employees", escape(external)), nil)
	gone := c.former(func(e *employee) bool { return e.external == external })
	if e := c.byExternal(external); e != nil {
		gone = []*employee{e}
	}
	if len(gone) == 0 {
		a.fails(&failure{http.StatusNotFound, "employee_not_found", nil})
		return
	}
	for _, e := range gone {
		e.erased = true
		isTheirs := func(x *assignment) bool { return x.employee == e }
		c.assignments = slices.DeleteFunc(c.assignments, isTheirs)
		for id, x := range s.recorded {
			if isTheirs(x) {
				delete(s.recorded, id)
			}
		}
		c.employees = slices.DeleteFunc(c.employees, func(x *employee) bool { return x == e })
		c.emit("employee.removed", e, a, object{"id": e.id, "externalId": e.external, "reason": "deleted"})
	}
	a.wants(object{"externalId": external, "status": "deleted"})
}

func (s *sequence) readEmployee() {
	c := s.company()
	external := s.who(c)
	a := s.call(c.token, http.MethodGet, apiPath("employees", escape(external)), nil)
	e := c.byExternal(external)
	switch {
	case e != nil:
		want := e.json()
		want["assignments"] = a.fulls(e.assignments)
		a.wants(want)
	case len(c.former(func(e *employee) bool { return e.external == external })) > 0:
		a.fails(&failure{http.StatusNotFound, "employee_offboarded", nil})
	default:
		a.fails(&failure{http.StatusNotFound, "employee_not_found", nil})
	}
}

// fulls returns the full forms of assignments by ascending id.
func (a *answer) fulls(list []*assignment) []any {
	out := []any{}
	for _, x := range byID(list, func(x *assignment) int64 { return x.id }) {
		out = append(out, a.full(x))
	}
	return out
}

func byID[T any](list []T, id func(T) int64) []T {
	return slices.SortedFunc(slices.Values(list), func(x, y T) int { return int(id(x) - id(y)) })
}
