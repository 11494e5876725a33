package cabinet_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// texts returns what stands in the elements of the main part that a pattern with one
// group matches.
func (r response) texts(pattern string) []string {
	var out []string
	_, main, _ := strings.Cut(r.raw, "<main")
	main, _, _ = strings.Cut(main, "</main>")
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(main, -1) {
		text := strings.TrimSpace(tags.ReplaceAllString(m[1], " "))
		out = append(out, strings.Join(strings.Fields(html.UnescapeString(text)), " "))
	}
	return out
}

// TestListsShowWhatTheirDesignSays compares the columns of the lists, their chips and
// tabs with counts, the bulk actions, the figures and the reports' parts with the design.
func TestListsShowWhatTheirDesignSays(t *testing.T) {
	t.Parallel()
	const columns, chips, acts = `(?s)<th scope="col"[^>]*>(.*?)</th>`, `(?s)<label class="chip">(.*?)</label>`, `name="act"[^>]*>([^<]*)<`
	const figures, questions = `(?s)<dt>(.*?)</dt>`, `(?s)<li>\s*<a href="/cabinet/reports/[^"]*">(.*?)</a>`
	onEachEngine(t, func(f fixture) {
		v, l := f.administrator(), f.newLearners(2)
		a := l.assign(1, time.Now().Add(-time.Hour))
		l.attempt(l.assign(2, time.Now().Add(time.Hour)), "1", 95_00)
		if _, err := l.store.PatchEmployee(f.Context(), l.caller, "HR-1", domain.EmployeePatch{Tags: &[]string{"night"}}); err != nil {
			f.Fatal(err)
		}
		l.exec(`UPDATE assignments SET is_required = $1`, true)
		for _, c := range []struct {
			page, pattern string
			want          []string
		}{
			{view.PathEmployees, columns, []string{"Select", "Name", "External id", "Tags", "Open", "Overdue", "Last activity"}},
			{view.PathEmployees, chips, []string{"Everyone", "Has overdue", "No assignments", "Left"}},
			{view.PathEmployees, acts, []string{"Assign", "Tag", "Untag", "Offboard"}},
			{view.PathCourses, columns, []string{"Name", "Kind", "Modules", "Assigned", "Completed", "Overdue", "Pass rate"}},
			{view.PathAssignments, columns, []string{"Select", "Person", "Course", "Status", "Progress", "Score", "Deadline", "Required"}},
			{view.PathAssignments, `(?s)<a[^>]*hx-get="/cabinet/assignments[^>]*>(.*?)</a>`, []string{
				"All 2", "Overdue 1", "Due soon 0", "In progress 0", "Needs retry 0", "Failed 0", "Completed 1",
			}},
			{view.PathAssignments, acts, []string{"Extend deadline", "Grant attempt", "Make required", "Make optional", "Revoke"}},
			{view.PathHome, figures, []string{"Active employees", "Required completed", "Overdue", "Completed in 30 days"}},
			{view.PathEmployee(a.EmployeeID), figures, []string{
				"Assigned", "Completed", "Open", "Overdue", "E-mail", "External id", "Role", "Tags", "Joined", "Last activity",
			}},
			{view.PathReports, questions, []string{
				"People and courses", "Who is overdue?", "How far is each course?", "How far is each group?", "Were we compliant on a date?", "What has one person done?",
			}},
		} {
			if diff := cmp.Diff(c.want, v.get(c.page).wantStatus(http.StatusOK).texts(c.pattern)); diff != "" {
				f.Errorf("%s (-want +got):\n%s", c.page, diff)
			}
		}
		if bars := len(v.get(view.PathHome).texts(`(?s)(<rect class="bar-delivered")`)); bars != 12 {
			f.Errorf("Home has %d weeks, want 12", bars)
		}
		for _, kind := range []string{"overdue", "courses", "tags", "compliance"} {
			page := v.get(view.PathReport(kind)).wantStatus(http.StatusOK).wantText(`<figure class="chart`, "<table", "data-print", "CSV", "XLSX", `class="filters"`)
			if charts := strings.Count(page.raw, `<figure class="chart`); charts != 1 {
				f.Errorf("the report %s has %d charts, want 1", kind, charts)
			}
		}
	})
}
