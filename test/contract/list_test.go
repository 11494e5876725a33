package contract_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// ids returns the ids of a list's items.
func (a *answer) ids() (out []string) {
	for i := range a.list("items") {
		out = append(out, a.str(fmt.Sprintf("items.%d.id", i)))
	}
	return out
}

// nextPath returns the path of the next page, empty on the last one.
func (c caller) nextPath(t *testing.T, a *answer) string {
	t.Helper()
	link := a.header.Get("Link")
	if link == "" {
		return ""
	}
	target, rest, found := strings.Cut(strings.TrimPrefix(link, "<"), ">")
	if !found || rest != `; rel="next"` {
		t.Fatalf("Link %q", link)
	}
	at, err := url.Parse(c.origin + c.contract.Base + "/x")
	if err == nil {
		at, err = at.Parse(target)
	}
	if err != nil || !strings.HasPrefix(at.String(), c.origin+c.contract.Base) {
		t.Fatalf("Link %q: %v", link, err)
	}
	if !at.Query().Has("after") {
		t.Errorf("Link %q has no cursor", link)
	}
	return strings.TrimPrefix(at.String(), c.origin+c.contract.Base)
}

// walkPages follows the links from a path to the last page.
func (c caller) walkPages(t *testing.T, path string, each func(page int, a *answer)) (all []string) {
	t.Helper()
	for page := 1; path != ""; page++ {
		a := c.send(t, "GET", path, "")
		if a.status != 200 {
			t.Fatalf("GET %s: %d %s", path, a.status, a.text)
		}
		all = append(all, a.ids()...)
		if each != nil {
			each(page, a)
		}
		path = c.nextPath(t, a)
	}
	return all
}

// pages reads the pages of a list by number and by link.
func pages(t *testing.T, s *suite) {
	f := s.newCompany(t)
	empty := `{"items":[],"pagination":{"page":1,"limit":50,"total":0,"pages":0}}`
	f.sendRows(t, []row{{do: "GET /employees", has: empty}, {do: "GET /assignments", has: empty},
		{do: "GET /employees?page=3&limit=7", has: `{"items":[],"pagination":{"page":3,"limit":7,"total":0,"pages":0}}`}})
	var people, work []string
	for i := range 7 {
		people = append(people, f.provision(t, fmt.Sprintf("E%d", 9-i)))
		work = append(work, f.assign(t, fmt.Sprintf("E%d", 9-i), f.course, fmt.Sprintf("A%d", 9-i)))
	}
	for path, want := range map[string][]string{"/employees": people, "/assignments": work} {
		for _, c := range []struct {
			query       string
			page, limit int
			from, to    int
			more        bool
		}{
			{"", 1, 50, 0, 7, false}, {"?limit=3", 1, 3, 0, 3, true}, {"?limit=3&page=2", 2, 3, 3, 6, true}, {"?limit=3&page=3", 3, 3, 6, 7, false},
			{"?limit=3&page=4", 4, 3, 7, 7, false}, {"?limit=7", 1, 7, 0, 7, false}, {"?limit=500", 1, 500, 0, 7, false}, {"?limit=1&page=7", 7, 1, 6, 7, false},
			{"?page=1000000000", 1_000_000_000, 50, 7, 7, false}, {"?page=9223372036854775807&limit=500", 9223372036854775807, 500, 7, 7, false},
			{"?unknown=1&limit=6", 1, 6, 0, 6, true},
		} {
			a := f.send(t, "GET", path+c.query, "")
			wantData(t, path+c.query, fmt.Sprintf(`{"pagination":{"page":%d,"limit":%d,"total":7,"pages":%d}}`, c.page, c.limit, (7+c.limit-1)/c.limit), a.body["data"])
			if got := a.ids(); !slices.Equal(got, want[c.from:c.to]) || (a.header.Get("Link") != "") != c.more {
				t.Errorf("%s%s: %v, want %v; Link %q", path, c.query, got, want[c.from:c.to], a.header.Get("Link"))
			}
		}
		for _, limit := range []int{1, 2, 3, 6, 7} {
			got := f.walkPages(t, fmt.Sprintf("%s?limit=%d", path, limit), func(page int, a *answer) {
				wantData(t, "walk", fmt.Sprintf(`{"pagination":{"page":%d,"limit":%d,"total":7,"pages":%d}}`, page, limit, (7+limit-1)/limit), a.body["data"])
			})
			if !slices.Equal(got, want) {
				t.Errorf("walk of %s by %d: %v, want %v", path, limit, got, want)
			}
		}
		for _, query := range []string{"page=0", "page=-1", "page=x", "page=1.5", "page=1.0", "page=", "page=%201", "page=1e3", "page=0x1", "page=99999999999999999999",
			"limit=0", "limit=-1", "limit=501", "limit=x", "limit=1.5", "limit=", "limit=1e2", "limit=null", "limit=99999999999999999999", "limit=%2B5"} {
			name, _, _ := strings.Cut(query, "=")
			f.sendRow(t, f.caller, row{do: "GET " + path + "?" + query, status: 400, code: "invalid_request", fields: name})
		}
		f.sendRows(t, []row{
			{do: "GET " + path + "?page=0&limit=501", status: 400, code: "invalid_request", fields: "page limit"},
			{do: "GET " + path + "?after=", status: 400, code: "invalid_request", fields: "after"},
			{do: "GET " + path + "?after=nonsense", status: 400, code: "invalid_request", fields: "after"},
			{do: "GET " + path + "?after=%00", status: 400, code: "invalid_request", fields: "after"},
			{do: "GET " + path + "?after=AQ", status: 400, code: "invalid_request", fields: "after"},
			{do: "GET " + path + "?limit=%zz", status: 400, code: "invalid_request"},
		})
	}
	cursor := f.nextPath(t, f.send(t, "GET", "/employees?limit=1", ""))
	_, query, _ := strings.Cut(cursor, "?")
	f.sendRow(t, f.caller, row{name: "a cursor of another list", do: "GET /assignments?" + query, status: 400, code: "invalid_request", fields: "after"})
}

// filters applies every filter of the two lists.
func filters(t *testing.T, s *suite) {
	f := s.newCompany(t)
	for _, id := range []string{"F1", "F2", "F3"} {
		f.vars[id] = f.provision(t, id)
		f.vars[id+"a"] = f.assign(t, id, f.course, id+"-course")
		f.vars[id+"x"] = f.assign(t, id, f.exam, id+"-exam")
	}
	f.reportActivity(t, f.vars["F1a"], "progress", `"completionPercent":100`)
	f.reportActivity(t, f.vars["F2a"], "started", "")
	f.reportActivity(t, f.vars["F1x"], "attempt_finished", `"score":10`)
	f.sendRows(t, []row{
		{do: "PATCH /employees/F1", body: `{"tags":["night shift","é"]}`},
		{do: "PATCH /employees/F2", body: `{"tags":["night"]}`},
		{do: "GET /employees?externalId=F2", has: `{"items":[{"id":<F2>}],"pagination":{"total":1,"pages":1}}`},
		{do: "GET /employees?externalId=f2", has: `{"items":[]}`},
		{do: "GET /employees?externalId=F", has: `{"items":[],"pagination":{"total":0,"pages":0}}`},
		{do: "GET /employees?email=<@f2>", has: `{"items":[{"id":<F2>}]}`},
		{do: "GET /employees?email=<@F2>", has: `{"items":[{"id":<F2>}]}`},
		{name: "a part of an email", do: "GET /employees?email=f2", has: `{"items":[]}`},
		{do: "GET /employees?email=nobody%40x.example", has: `{"items":[]}`},
		{do: "GET /employees?tag=night", has: `{"items":[{"id":<F2>}]}`},
		{do: "GET /employees?tag=night%20shift", has: `{"items":[{"id":<F1>}]}`},
		{do: "GET /employees?tag=night+shift", has: `{"items":[{"id":<F1>}]}`},
		{do: "GET /employees?tag=Night", has: `{"items":[]}`},
		{do: "GET /employees?tag=e%CC%81", has: `{"items":[{"id":<F1>}]}`},
		{do: "GET /employees?tag=night&externalId=F2&email=<@f2>", has: `{"items":[{"id":<F2>}]}`},
		{do: "GET /employees?tag=night&externalId=F1", has: `{"items":[]}`},
		{do: "GET /employees?tag=", status: 400, code: "invalid_request", fields: "tag"},
		{do: "GET /employees?externalId=", status: 400, code: "invalid_request", fields: "externalId"},
		{do: "GET /employees?tag=a%00", status: 400, code: "invalid_request", fields: "tag"},
		{do: "GET /employees?tag=%FF", status: 400, code: "invalid_request", fields: "tag"},

		{do: "GET /assignments?employeeExternalId=F1", has: `{"items":[{"id":<F1a>},{"id":<F1x>}],"pagination":{"total":2}}`},
		{do: "GET /assignments?employeeExternalId=f1", has: `{"items":[]}`},
		{do: "GET /assignments?courseId=<exam>", has: `{"items":[{"id":<F1x>},{"id":<F2x>},{"id":<F3x>}]}`},
		{do: "GET /assignments?courseId=999999999", has: `{"items":[],"pagination":{"total":0}}`},
		{do: "GET /assignments?status=completed", has: `{"items":[{"id":<F1a>,"status":"completed"}]}`},
		{do: "GET /assignments?status=started", has: `{"items":[{"id":<F2a>}]}`},
		{do: "GET /assignments?status=needs_retry", has: `{"items":[{"id":<F1x>}]}`},
		{do: "GET /assignments?status=failed", has: `{"items":[]}`},
		{do: "GET /assignments?status=assigned&courseId=<exam>&employeeExternalId=F3", has: `{"items":[{"id":<F3x>}]}`},
		{do: "GET /assignments?status=assigned&employeeExternalId=F1", has: `{"items":[]}`},
		{do: "GET /assignments?status=overdue", status: 400, code: "invalid_request", fields: "status"},
		{do: "GET /assignments?status=Completed", status: 400, code: "invalid_request", fields: "status"},
		{do: "GET /assignments?status=", status: 400, code: "invalid_request", fields: "status"},
		{do: "GET /assignments?status=assigned,started", status: 400, code: "invalid_request", fields: "status"},
		{do: "GET /assignments?courseId=x", status: 400, code: "invalid_request", fields: "courseId"},
		{do: "GET /assignments?courseId=1.5", status: 400, code: "invalid_request", fields: "courseId"},
		{do: "GET /assignments?courseId=", status: 400, code: "invalid_request", fields: "courseId"},
		{do: "GET /assignments?status=x&courseId=y&updatedSince=z&limit=0", status: 400, code: "invalid_request", fields: "status courseId updatedSince limit"},
		{do: "GET /assignments?status=assigned&status=started", status: 400, code: "invalid_request", fields: "status"},
	})
	got := f.walkPages(t, "/assignments?status=assigned&limit=1", nil)
	if want := []string{f.vars["F2x"], f.vars["F3a"], f.vars["F3x"]}; !slices.Equal(got, want) {
		t.Errorf("a walk with a filter: %v, want %v", got, want)
	}
}
