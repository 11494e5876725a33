package load

import (
	_ "embed"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"
)

// peopleSQL fills a company with 100,000 employees and 1,000,000 assignments.
//
//go:embed testdata/people.sql
var peopleSQL string

// peoplePages returns the pages of the administrator's half of the cabinet, lists and
// reports with each of their filters and with combinations that match few of many rows.
func peoplePages() []string {
	out := []string{
		"/cabinet", "/cabinet/courses", "/cabinet/courses?q=workplace", "/cabinet/courses?sort=overdue", "/cabinet/courses/1", "/cabinet/courses/40",
		"/cabinet/courses/1/slice", "/cabinet/employees/new", "/cabinet/employees/import", "/cabinet/employees/4242", "/cabinet/employees/4242/edit",
		"/cabinet/employees/4242/offboard", "/cabinet/employees/4242/erase", "/cabinet/employees/4242/record", "/cabinet/assignments/new",
		"/cabinet/assignments/4243", "/cabinet/assignments/4243/revoke", "/cabinet/reports", "/cabinet/find?q=anna", "/cabinet/find?q=course",
		"/cabinet/assignments/bulk?all=1&act=extend", "/cabinet/assignments/bulk?all=1&act=revoke&tag=warehouse",
		"/cabinet/employees/bulk?all=1&act=tag&show=overdue", "/cabinet/employees/bulk?all=1&act=offboard&tag=warehouse",
	}
	lists := map[string][]string{
		"employees": {
			"", "show=overdue", "show=unassigned", "show=left", "tag=warehouse", "tag=first+aid", "q=a", "q=anna+miller+42", "q=nobody",
			"show=overdue&tag=first+aid", "show=unassigned&tag=warehouse", "show=left&tag=warehouse", "show=overdue&q=anna", "tag=warehouse&q=e-42",
		},
		"reports/overdue":    {"", "course=1", "course=40&tag=warehouse", "tag=first+aid", "required=yes", "q=anna"},
		"reports/courses":    {"", "course=1", "tag=warehouse", "required=yes"},
		"reports/tags":       {"", "course=1", "required=yes"},
		"reports/compliance": {"", "on=2026-06-30", "course=1", "tag=warehouse"},
		"reports/matrix":     {"", "course=40&tag=warehouse", "tag=first+aid", "q=anna", "part=3"},
		"reports/person":     {"", "q=anna"},
	}
	for _, tab := range []string{"", "overdue", "due_soon", "in_progress", "needs_retry", "failed", "completed"} {
		for _, filter := range []string{
			"", "course=1", "course=40", "tag=warehouse", "tag=first+aid", "required=no", "q=a", "q=nobody", "course=40&tag=first+aid",
			"course=1&required=yes", "tag=warehouse&q=b", "course=40&required=no&tag=warehouse&q=c",
		} {
			lists["assignments"] = append(lists["assignments"], strings.Trim("tab="+tab+"&"+filter, "&"))
		}
	}
	for list, filters := range lists {
		for _, filter := range filters {
			out = append(out, "/cabinet/"+list+"?"+filter)
		}
	}
	return out
}

// BenchmarkPeoplePages requests every page of the administrator's half of the cabinet,
// of a company with 100,000 employees and 1,000,000 assignments. Reports that are
// counted in the background are requested until they have been.
func BenchmarkPeoplePages(b *testing.B) {
	f := newCompany(b, engines["postgres"](b))
	conn := connect(b, f.database)
	for _, sql := range []string{"DELETE FROM course_grants", "DELETE FROM courses", "ALTER SEQUENCE courses_id_seq RESTART", peopleSQL, "VACUUM ANALYZE"} {
		if _, err := conn.PgConn().Exec(b.Context(), sql).ReadAll(); err != nil {
			b.Fatalf("%.60s: %v", sql, err)
		}
	}
	runJSON[struct{ Repaired bool }](b, f.database, "check", "--repair")
	link := runJSON[struct{ SignInURL string }](b, f.database, "admin", "link", "--email", "ann@acme.example").SignInURL
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	v := &visitor{Client: http.Client{Jar: jar}, base: "http://" + serve(b, f.database).address}
	if err := v.enter(b.Context(), link); err != nil {
		b.Fatal(err)
	}
	var pages []string
	for _, path := range peoplePages() {
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
		v.measure(b, pages, 80)
	}
}

// measure requests pages in turn and reports the 95th percentile of each, and of the
// slowest one.
func (v *visitor) measure(b *testing.B, pages []string, target float64) {
	b.Helper()
	took := map[string][]time.Duration{}
	for range pageRequests(b) {
		for _, path := range pages {
			_, d := v.open(b, path)
			took[path] = append(took[path], d)
		}
	}
	worst := 0.0
	for _, path := range pages {
		name := strings.TrimSuffix(cursor.ReplaceAllString(path, ""), "?")
		if cursor.MatchString(path) {
			name += ", second page"
		}
		p95 := percentile(took[path], 0.95)
		worst = max(worst, p95)
		results.add(figure{name + ", p95 (p50)", fmt.Sprintf("%.1f (%.1f) ms", p95, percentile(took[path], 0.5)), fmt.Sprintf("< %.0f", target), p95 < target})
	}
	below(b, fmt.Sprintf("the slowest of %d pages, p95", len(pages)), worst, target, "ms-p95")
}
