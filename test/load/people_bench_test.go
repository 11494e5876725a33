package load

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// peopleSQL fills a company with 100,000 employees and 1,000,000 assignments.
//
//go:embed testdata/people.sql
var peopleSQL string

// narrowed returns a list without a filter, with each of the filters, with each pair of
// filters of different kinds, and with all kinds at once.
func narrowed(kinds ...[]string) []string {
	out := []string{""}
	all := make([]string, len(kinds))
	for i, kind := range kinds {
		out = append(out, kind...)
		all[i] = kind[0]
		for _, other := range kinds[i+1:] {
			for _, a := range kind {
				for _, b := range other {
					out = append(out, a+"&"+b)
				}
			}
		}
	}
	if len(kinds) > 2 {
		out = append(out, strings.Join(all, "&"))
	}
	return out
}

// deepPages returns cursors into the middle and near the end of the lists of
// assignments by id and by deadline, as links have them.
func deepPages(now time.Time) map[string][]string {
	after := func(id int64, at time.Time) string {
		return "&after=" + domain.Cursor{ID: id, At: at.UnixMilli()}.Format(domain.CabinetList)
	}
	day := 24 * time.Hour
	byID := []string{after(500_000, now), after(300, now)}
	out := map[string][]string{
		"overdue":  {after(1, now.Add(-30*day)), after(1, now.Add(-time.Hour))},
		"due_soon": {after(1, now.Add(3*day)), after(1, now.Add(7*day-time.Hour))},
	}
	for _, tab := range []string{"", "in_progress", "needs_retry", "failed", "completed"} {
		out[tab] = byID
	}
	return out
}

// peoplePages returns the pages of the administrator's half of the cabinet: lists and
// reports with each of their filters and with pairs of them. Tags are one that many
// people have, one of some and one of few. Nobody with the tag of some has a course
// that is optional, so that this pair has no rows.
func peoplePages(now time.Time) []string {
	out := []string{
		"/cabinet", "/cabinet/courses", "/cabinet/courses?q=workplace", "/cabinet/courses?sort=overdue", "/cabinet/courses?show=archived", "/cabinet/courses/1",
		"/cabinet/courses/40", "/cabinet/courses/1/slice", "/cabinet/courses/1/archive", "/cabinet/employees/new", "/cabinet/employees/import",
		"/cabinet/employees/4242", "/cabinet/employees/4242/edit", "/cabinet/employees/4242/offboard", "/cabinet/employees/4242/erase",
		"/cabinet/employees/4242/record", "/cabinet/assignments/new", "/cabinet/assignments/new?everyone=1&course=1",
		"/cabinet/assignments/new?tag=warehouse&course=1&course=2", "/cabinet/assignments/new?q=anna", "/cabinet/assignments/4243",
		"/cabinet/assignments/4243/revoke", "/cabinet/assignments/4243/deadline", "/cabinet/reports", "/cabinet/find?q=anna", "/cabinet/find?q=course",
		"/cabinet/assignments/bulk?all=1&act=extend", "/cabinet/assignments/bulk?all=1&act=revoke&tag=warehouse",
		"/cabinet/assignments/bulk?all=1&act=revoke&tag=site+3&required=no", "/cabinet/employees/bulk?all=1&act=tag&show=overdue",
		"/cabinet/employees/bulk?all=1&act=offboard&tag=warehouse",
	}
	course, tag := []string{"course=40", "course=1"}, []string{"tag=site+3", "tag=warehouse", "tag=first+aid"}
	required, search := []string{"required=no", "required=yes"}, []string{"q=e", "q=nobody", "q=anna+miller+42"}
	show := []string{"show=overdue", "show=unassigned", "show=left"}
	lists := map[string][]string{
		"employees":          narrowed(show, tag, search),
		"reports/overdue":    narrowed(course, tag, required, search),
		"reports/courses":    narrowed(course, tag, required),
		"reports/tags":       narrowed(course, required),
		"reports/compliance": narrowed([]string{"on=2026-06-30"}, course, tag),
		"reports/matrix":     narrowed([]string{"part=3"}, course, tag, search),
		"reports/person":     narrowed(search),
	}
	for _, filter := range append(narrowed(show), "tag=site+3", "tag=warehouse") {
		for _, after := range []string{"&after=50000", "&after=99900"} {
			lists["employees"] = append(lists["employees"], filter+after)
		}
	}
	for tab, deep := range deepPages(now) {
		for _, filter := range narrowed(course, tag, required, search) {
			lists["assignments"] = append(lists["assignments"], strings.Trim("tab="+tab+"&"+filter, "&"))
		}
		for _, filter := range []string{"", "course=40", "tag=site+3", "tag=warehouse", "q=e", "course=40&tag=warehouse"} {
			for _, after := range deep {
				lists["assignments"] = append(lists["assignments"], "tab="+tab+"&"+filter+after)
			}
		}
	}
	for list, filters := range lists {
		for _, filter := range filters {
			out = append(out, "/cabinet/"+list+"?"+filter)
		}
	}
	slices.Sort(out)
	return out
}

// BenchmarkPeoplePages requests every page of the administrator's half of the cabinet,
// of a company with 100,000 employees and 1,000,000 assignments. Reports that are
// counted in the background are requested until they have been.
func BenchmarkPeoplePages(b *testing.B) {
	v := visit(b, filled(b, "postgres", "coursebridge_people", func(database string) {
		newCompany(b, database)
		conn := connect(b, database)
		for _, sql := range []string{"DELETE FROM course_grants", "DELETE FROM courses", "ALTER SEQUENCE courses_id_seq RESTART", peopleSQL, "VACUUM ANALYZE"} {
			if _, err := conn.PgConn().Exec(b.Context(), sql).ReadAll(); err != nil {
				b.Fatalf("%.60s: %v", sql, err)
			}
		}
		runJSON[struct{ Repaired bool }](b, database, "check", "--repair")
	}))
	var pages []string
	for _, path := range peoplePages(time.Now()) {
		pages = append(pages, path)
		if next := v.next(b, path); next != "" {
			pages = append(pages, next)
		}
		for counting := true; counting; {
			body, _ := v.open(b, path)
			counting = strings.Contains(body, ">Counting<")
		}
	}
	for b.Loop() {
		v.measure(b, pages, max(1, pageRequests(b)/5), 80)
	}
}

// measure requests pages in turn, each as often as times, and reports the 95th
// percentile of each and of the slowest one.
func (v *visitor) measure(b *testing.B, pages []string, times int, target float64) {
	b.Helper()
	took := map[string][]time.Duration{}
	for range times {
		for _, path := range pages {
			_, d := v.open(b, path)
			took[path] = append(took[path], d)
		}
	}
	worst, named := 0.0, map[string]int{}
	for _, path := range pages {
		name := strings.TrimSuffix(cursor.ReplaceAllString(path, ""), "?")
		if cursor.MatchString(path) {
			name += ", later page"
		}
		if named[name]++; named[name] > 1 { // cursors are left out of the name
			name += fmt.Sprintf(" %d", named[name])
		}
		p95 := percentile(took[path], 0.95)
		worst = max(worst, p95)
		results.add(figure{What: name, Value: p95, Unit: "ms-p95", Sign: "<", Target: target, Note: fmt.Sprintf("p50 %.1f ms", percentile(took[path], 0.5))})
	}
	below(b, fmt.Sprintf("the slowest of %d pages, p95", len(pages)), worst, target, "ms-p95")
}
