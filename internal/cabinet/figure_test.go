package cabinet_test

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	nethtml "golang.org/x/net/html"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// fillAtRandom assigns three courses to people with two tags, in every state,
// some of them revoked, and completions of the last three months. Persons 2 and 3, who have
// one tag each, are late with a required course, so that no report is without figures.
func (l learners) fillAtRandom(random *rand.Rand, people int) (courses []int64) {
	l.Helper()
	courses = []int64{l.course}
	for _, name := range []string{"Data protection", "Fire drill"} {
		courses = append(courses, l.addCourse(domain.Course{Name: name, IsAssessment: true, PassMark: 80_00, AllowedAttempts: 2}))
	}
	for n := 1; n <= people; n++ {
		tags := []string{[]string{"office", "port"}[random.IntN(2)]}
		if n == 2 || n == 3 {
			tags = []string{[]string{"office", "port"}[n-2]}
		}
		if _, err := l.store.PatchEmployee(l.Context(), l.caller, fmt.Sprintf("HR-%d", n), domain.EmployeePatch{Tags: &tags}); err != nil {
			l.Fatal(err)
		}
	}
	now := time.Now().UTC()
	for n := range 90 {
		person, deadline, required := 1+random.IntN(people), now.Add(time.Duration(random.IntN(60*24)-20*24)*time.Hour), random.IntN(2) == 0
		isLate := n == 2 || n == 3
		if isLate {
			person, deadline, required = n, now.Add(-time.Hour), true
		}
		results, err := l.store.Assign(l.Context(), l.caller, []domain.BulkItem{{New: domain.NewAssignment{
			EmployeeExternalID: fmt.Sprintf("HR-%d", person), CourseID: courses[random.IntN(3)], ExternalID: fmt.Sprintf("R-%d", n),
			Deadline: &deadline, IsRequired: &required,
		}}})
		if err != nil || results[0].Err != nil {
			l.Fatal(err, results)
		}
		if !isLate {
			l.actAtRandom(random, results[0].Assignment)
		}
	}
	return courses
}

// actAtRandom completes, fails, retries, starts or revokes an assignment, or leaves it.
func (l learners) actAtRandom(random *rand.Rand, a domain.Assignment) {
	l.Helper()
	key := strconv.FormatInt(a.ID, 10)
	switch random.IntN(7) {
	case 0, 1:
		l.attempt(a, key, 95_00)
		at := time.Now().UTC().Add(-time.Duration(random.IntN(90*24)) * time.Hour)
		l.exec(`UPDATE assignments SET completed_at = $2 WHERE id = $1`, a.ID, at.Truncate(time.Millisecond))
	case 2:
		l.attempt(a, key, 10_00)
	case 3:
		l.attempt(a, key, 10_00)
		l.attempt(a, key+"-again", 10_00)
	case 4:
		_, err := l.store.RecordActivities(l.Context(), []domain.ActivityItem{{Activity: domain.Activity{
			ID: key, AssignmentID: a.ID, Type: domain.ActivityStarted, OccurredAt: time.Now().UTC(),
		}}})
		if err != nil {
			l.Fatal(err)
		}
	case 5:
		if err := l.store.Revoke(l.Context(), l.caller, a.ID); err != nil {
			l.Fatal(err)
		}
	}
}

var firstNumber = regexp.MustCompile(`\d[\d,]*`)

// linkedFigures returns the numbers that a page links to lists, by the lists' addresses.
func (r response) linkedFigures() map[string]int {
	r.v.Helper()
	root, err := nethtml.Parse(strings.NewReader(r.raw))
	if err != nil {
		r.v.Fatal(err)
	}
	out := map[string]int{}
	for node := range root.Descendants() {
		if node.Data != "a" {
			continue
		}
		href, text := "", ""
		for _, attribute := range node.Attr {
			if attribute.Key == "href" {
				href = attribute.Val
			}
		}
		for part := range node.Descendants() {
			if part.Type == nethtml.TextNode {
				text += part.Data
			}
		}
		path, _, _ := strings.Cut(href, "?")
		if number := firstNumber.FindString(text); number != "" && !strings.Contains(text, "%") && (path == view.PathAssignments || path == view.PathEmployees) {
			out[href], _ = strconv.Atoi(strings.ReplaceAll(number, ",", ""))
		}
	}
	return out
}

// listed returns how many rows the list at an address has, by its file, and compares
// that with what the list says.
func (v *visitor) listed(address string) int {
	v.Helper()
	path, query, _ := strings.Cut(address, "?")
	export := map[string]string{view.PathAssignments: view.PathAssignmentsExport, view.PathEmployees: view.PathEmployeeExport}[path]
	file := v.get(export + "?" + query).wantStatus(http.StatusOK)
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(file.raw, "\ufeff"))).ReadAll()
	if err != nil {
		v.Fatal(err)
	}
	n, noun := len(rows)-1, strings.TrimSuffix(path[strings.LastIndex(path, "/")+1:], "s")
	switch n {
	case 0:
	case 1:
		v.get(address).wantText("1 " + noun)
	default:
		v.get(address).wantText(fmt.Sprintf("%d %ss", n, noun))
	}
	return n
}

// TestEveryFigureIsTheLengthOfItsList follows every number that leads to a list, over
// random data: on Home, on the tabs, on the pages of courses and people and in the
// reports. The list must have as many rows.
func TestEveryFigureIsTheLengthOfItsList(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		const people = 20
		v, l := f.administrator(), f.newLearners(people)
		seed := uint64(time.Now().UnixNano())
		f.Logf("seed %d", seed)
		courses := l.fillAtRandom(rand.New(rand.NewPCG(seed, 1)), people)
		leave := false
		if _, err := l.store.PatchEmployee(f.Context(), l.caller, "HR-1", domain.EmployeePatch{Active: &leave}); err != nil {
			f.Fatal(err)
		}
		course := strconv.FormatInt(courses[1], 10)
		pages := map[string]int{ // with the least number of figures that lead to lists
			view.PathHome: 5, view.PathAssignments: 7, view.PathAssignments + "?tab=completed&tag=port": 7,
			view.PathAssignments + "?course=" + course: 7, view.PathAssignments + "?required=yes&course=" + course: 7,
			view.PathAssignments + "?tab=completed&recent=1": 7, view.PathAssignments + "?tab=completed&recent=1&tag=port": 7,
			view.PathAssignments + "?tab=overdue&q=Person+2": 7, view.PathCourse(courses[1]): 2, view.PathCourse(courses[2]): 2,
			view.PathReport("courses"): 1, view.PathReport("courses") + "?tag=office&required=yes": 1, view.PathReport("tags"): 1,
			view.PathReport("tags") + "?course=" + course: 0,
		}
		for page, least := range pages {
			figures := v.get(page).wantStatus(http.StatusOK).linkedFigures()
			if len(figures) < least {
				f.Errorf("%s links %d figures to lists, want at least %d: %v", page, len(figures), least, figures)
			}
			for address, n := range figures {
				if got := v.listed(address); got != n {
					f.Errorf("%s says %d, but %s has %d rows", page, n, address, got)
				}
			}
		}
		for _, show := range []string{"", "overdue", "unassigned", "left"} {
			v.listed(view.PathEmployees + "?show=" + show)
		}
		required := view.PathAssignments + "?required=yes"
		done, all := v.listed(required+"&tab=completed"), v.listed(required)
		share := strings.TrimSuffix(fmt.Sprintf("%.1f", float64(done)*100/float64(all)), ".0")
		v.get(view.PathHome).wantText(fmt.Sprintf(`href="%s">%s%%</a>`, required, share))
	})
}
