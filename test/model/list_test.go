package model

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func pagination(page, limit, total int) object {
	return object{"page": page, "limit": limit, "total": total, "pages": (total + limit - 1) / limit}
}

// part returns one page of a list.
func part[T any](all []T, page, limit int) []T {
	from := min((page-1)*limit, len(all))
	return all[from:min(from+limit, len(all))]
}

// list is what a list must show.
type list struct {
	company *company
	path    string
	query   url.Values
	total   int
	items   func(a *answer, page, limit int) []any
}

var nextLink = regexp.MustCompile(`^<([^>]+)>; rel="next"$`)

// read reads a random page of a list, or walks it by its links.
func (s *sequence) read(l list) {
	limit := pick(s, "limit", []int{0, 1, 2, 500})
	if limit != 0 {
		l.query.Set("limit", strconv.Itoa(limit))
	} else {
		limit = 50
	}
	page := pick(s, "page", []int{0, 1, 2, 7})
	walk := page == 0
	if walk {
		page = 1
	} else {
		l.query.Set("page", strconv.Itoa(page))
	}
	path := apiPath(l.path) + "?" + l.query.Encode()
	for {
		a := s.call(l.company.token, http.MethodGet, path, nil)
		a.wants(object{"items": l.items(a, page, limit), "pagination": pagination(page, limit, l.total)})
		next := nextLink.FindStringSubmatch(a.header.Get("Link"))
		if more := page*limit < l.total; more != (next != nil) {
			s.Fatalf("%s: the link is %q, want one: %v", a.request, a.header.Get("Link"), more)
		}
		if !walk || next == nil {
			return
		}
		path, page = next[1], page+1
	}
}

func (s *sequence) listEmployees() {
	c, query := s.company(), url.Values{}
	found := c.live()
	keep := func(fits func(e *employee) bool) {
		found = slices.DeleteFunc(found, func(e *employee) bool { return !fits(e) })
	}
	if s.chance("filter by externalId", 4) {
		external := pick(s, "externalId", externals)
		query.Set("externalId", external)
		keep(func(e *employee) bool { return e.external == external })
	}
	if s.chance("filter by email", 4) {
		email := s.email()
		query.Set("email", strings.ToUpper(email))
		keep(func(e *employee) bool { return strings.EqualFold(e.email, email) })
	}
	if s.chance("filter by tag", 3) {
		tag := pick(s, "tag", tags)
		query.Set("tag", tag)
		keep(func(e *employee) bool { return slices.Contains(e.tags, tag) })
	}
	found = byID(found, func(e *employee) int64 { return e.id })
	s.read(list{c, "employees", query, len(found), func(_ *answer, page, limit int) []any {
		items := []any{}
		for _, e := range part(found, page, limit) {
			items = append(items, e.json())
		}
		return items
	}})
}

// filtered returns live assignments by a random filter, and its query.
func (s *sequence) filtered(c *company) ([]*assignment, url.Values) {
	query, found := url.Values{}, byID(c.liveAssignments(), func(x *assignment) int64 { return x.id })
	keep := func(fits func(x *assignment) bool) {
		found = slices.DeleteFunc(found, func(x *assignment) bool { return !fits(x) })
	}
	if s.chance("filter by employee", 3) {
		external := pick(s, "employee", externals)
		query.Set("employeeExternalId", external)
		keep(func(x *assignment) bool { return x.employee.external == external })
	}
	if s.chance("filter by status", 3) {
		status := pick(s, "status", []string{"assigned", "started", "completed", "failed", "needs_retry"})
		query.Set("status", status)
		keep(func(x *assignment) bool { return x.status == status })
	}
	if s.chance("filter by course", 3) {
		of := pick(s, "course", s.courses)
		query.Set("courseId", strconv.FormatInt(of.id, 10))
		keep(func(x *assignment) bool { return x.course == of })
	}
	return found, query
}

func (s *sequence) listAssignments() {
	c := s.company()
	found, query := s.filtered(c)
	s.read(list{c, "assignments", query, len(found), func(a *answer, page, limit int) []any {
		return a.fulls(part(found, page, limit))
	}})
}

// listChanges asks for the changes since the last watermark. All of them are there, and
// what else is there looks as it does now.
func (s *sequence) listChanges() {
	c := s.company()
	since, seen := c.watermark, c.seen
	switch {
	case since == "" || s.chance("from the beginning", 4):
		since, seen = "2020-01-01T00:00:00Z", 0
	case s.chance("from the future", 6):
		since, seen = "2100-01-01T00:00:00Z", s.step
	}
	path := apiPath("assignments?limit=500&updatedSince=" + url.QueryEscape(since))
	a := s.call(c.token, http.MethodGet, path, nil)
	live := map[int64]*assignment{}
	missing := map[int64]bool{}
	for _, x := range c.liveAssignments() {
		live[x.id] = x
		if x.changed > seen {
			missing[x.id] = true
		}
	}
	item := matcher(func(got any) error {
		fields, _ := got.(object)
		id, _ := fields["id"].(float64)
		x := live[int64(id)]
		delete(live, int64(id)) // so that it may come only once
		delete(missing, int64(id))
		if x == nil {
			return fmt.Errorf("assignment %v is not live, or listed twice", fields["id"])
		}
		return match(got, a.full(x))
	})
	all := matcher(func(got any) error {
		items, _ := got.([]any)
		if since > "2099" && len(items) > 0 {
			return fmt.Errorf("got %d changes of the future", len(items))
		}
		for i := range items {
			if err := item(items[i]); err != nil {
				return err
			}
		}
		if len(missing) > 0 {
			return fmt.Errorf("the changes of %v are missing", missing)
		}
		total := len(items)
		return match(a.body.(object)["data"].(object)["pagination"], pagination(1, 500, total))
	})
	a.wants(object{"items": all, "pagination": matcher(func(any) error { return nil })})
	c.watermark, c.seen = a.header.Get("X-Sync-Watermark"), s.step
	if err := (&stamp{from: s.start.Add(-clockSlack), to: a.ended}).match(c.watermark); err != nil {
		s.Fatalf("%s: the watermark: %v", a.request, err)
	}
}

func (s *sequence) listCourses() {
	c := s.company()
	a := s.call(c.token, http.MethodGet, apiPath("courses"), nil)
	items := []any{}
	for _, x := range byID(c.courses, func(x *course) int64 { return x.id }) {
		items = append(items, object{"id": x.id, "name": x.name, "externalId": x.external, "isAssessment": x.rule.assessment})
	}
	a.wants(object{"items": items})
}

func (s *sequence) readToken() {
	c := s.company()
	s.call(c.token, http.MethodGet, apiPath("token"), nil).wants(object{
		"name": "model", "company": object{"id": c.id, "name": c.name}, "expiresAt": nil,
		"scopes": []any{"b2b_api", "b2b_read", "b2b_provision", "b2b_assignment"},
	})
}
