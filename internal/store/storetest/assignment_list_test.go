package storetest_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// exec runs a statement of a test.
func (f testCompany) exec(sql string, args ...any) {
	f.t.Helper()
	err := f.s.Engine().Write(f.t.Context(), func(tx db.Tx) error {
		_, err := tx.Exec(f.t.Context(), sql, args...)
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// listIDs walks the cabinet's list from its first page to its last.
func (f testCompany) listIDs(q domain.AssignmentQuery) (ids []int64) {
	f.t.Helper()
	p := domain.PageRequest{Limit: 50}
	for {
		page, err := f.s.AssignmentList(f.t.Context(), f.c.Company.ID, q, p)
		if err != nil {
			f.t.Fatal(err)
		}
		for _, a := range page.Items {
			ids = append(ids, a.ID)
		}
		if !page.More {
			return ids
		}
		last := page.Items[len(page.Items)-1]
		at := last.Deadline
		if q.Recent {
			at = *last.CompletedAt
		}
		after, err := domain.ParseCursor(domain.CabinetList, domain.Cursor{ID: last.ID, At: at.UnixMilli()}.Format(domain.CabinetList))
		if err != nil {
			f.t.Fatalf("the cursor after %v: %v", at, err)
		}
		p.After = &after
	}
}

// isIn reports whether an assignment belongs to a tab.
func isIn(tab domain.AssignmentTab, a domain.Assignment, now time.Time) bool {
	open := a.Status != domain.StatusCompleted
	switch tab {
	case domain.TabAll:
		return true
	case domain.TabOverdue:
		return open && !a.Deadline.After(now)
	case domain.TabDueSoon:
		return open && a.Deadline.After(now) && !a.Deadline.After(now.Add(domain.DueSoon))
	case domain.TabInProgress:
		return a.Status == domain.StatusStarted
	}
	return string(a.Status) == string(tab)
}

// narrowings returns every combination of the list's filters.
func narrowings(course int64) (out []domain.AssignmentQuery) {
	no := false
	for _, course := range []int64{0, course} {
		for _, tag := range []string{"", "third", "most", "nobody's"} {
			for _, required := range []*bool{nil, &no} {
				for _, search := range []string{"", "EMP-12"} {
					out = append(out, domain.AssignmentQuery{CourseID: course, Tag: tag, Required: required, Search: search})
				}
			}
		}
	}
	return out
}

// checkRecent checks that the list and the tab of recent completions are those of the
// tab of all completions that ended after RecentSince.
func (f testCompany) checkRecent(q domain.AssignmentQuery, all []domain.Assignment) {
	f.t.Helper()
	byID := map[int64]domain.Assignment{}
	for _, a := range all {
		byID[a.ID] = a
	}
	var want []int64
	for _, id := range f.listIDs(q.In(domain.TabCompleted)) {
		if !byID[id].CompletedAt.Before(domain.RecentSince(f.s.Now())) {
			want = append(want, id)
		}
	}
	slices.SortFunc(want, func(x, y int64) int {
		return cmp.Or(byID[y].CompletedAt.Compare(*byID[x].CompletedAt), cmp.Compare(y, x))
	})
	q.Tab, q.Recent = domain.TabCompleted, true
	equal(f.t, fmt.Sprintf("recent completions of %+v", q), f.listIDs(q), want)
	counts, err := f.s.TabCounts(f.t.Context(), f.c.Company.ID, q)
	if err != nil || counts.N[domain.TabCompleted] != int64(len(want)) {
		f.t.Errorf("recent completions of %+v: counted %d, want %d; %v", q, counts.N[domain.TabCompleted], len(want), err)
	}
}

// The cabinet's list shows exactly the assignments that match, page by page, whichever
// filters are set, and the tabs count them: tags that few and that many people have,
// deadlines before 1970, and assignments that share a deadline.
func TestNarrowedListHasExactlyWhatMatches(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		filled := storetest.Fill(t, s, f.c.Company.ID, storetest.Size{Employees: 5200, Courses: 3, Assignments: 400})
		f.exec(`INSERT INTO employee_tags (company_id, tag, employee_id) SELECT company_id, 'most', id FROM employees WHERE company_id = $1 AND id % 20 <> 3`, f.c.Company.ID)
		f.exec(`UPDATE assignments SET deadline = $2 WHERE company_id = $1 AND id % 5 = 0`, f.c.Company.ID, time.Date(1969, 7, 20, 20, 17, 0, 0, time.UTC))
		f.exec(`UPDATE assignments SET deadline = $2 WHERE company_id = $1 AND id % 5 = 1`, f.c.Company.ID, s.Now().Add(48*time.Hour))
		for rest, days := range []int{5, 29, 31} { // many of a kind at one instant
			f.exec(`UPDATE assignments SET completed_at = $2 WHERE company_id = $1 AND status = 'completed' AND id % 3 = `+strconv.Itoa(rest), f.c.Company.ID, s.Now().AddDate(0, 0, -days))
		}
		var all []domain.Assignment
		f.walk(domain.AssignmentFilter{}, 100, func(a domain.Assignment) { all = append(all, a) })
		tagged := map[string][]int64{"most": column[int64](t, s, `SELECT employee_id FROM employee_tags WHERE company_id = $1 AND tag = 'most'`, f.c.Company.ID)}
		for i := 0; i < len(filled.Employees); i += 3 {
			tagged["third"] = append(tagged["third"], filled.Employees[i])
		}
		for tag := range tagged {
			slices.Sort(tagged[tag])
		}
		for _, q := range narrowings(filled.Courses[1]) {
			counts, err := s.TabCounts(t.Context(), f.c.Company.ID, q)
			if err != nil {
				t.Fatal(err)
			}
			f.checkRecent(q, all)
			for _, tab := range []domain.AssignmentTab{domain.TabAll, domain.TabOverdue, domain.TabDueSoon, domain.TabCompleted} {
				var want []int64
				for _, a := range all {
					_, has := slices.BinarySearch(tagged[q.Tag], a.EmployeeID)
					if isIn(tab, a, s.Now()) && (q.CourseID == 0 || q.CourseID == a.CourseID) && (q.Tag == "" || has) &&
						(q.Required == nil || *q.Required == a.IsRequired) && strings.HasPrefix(strings.ToUpper(a.EmployeeExternalID), q.Search) {
						want = append(want, a.ID)
					}
				}
				got := f.listIDs(q.In(tab))
				slices.Sort(got)
				what := fmt.Sprintf("tab %q of %+v", tab, q)
				equal(t, what, got, want)
				if counts.N[tab] != int64(len(want)) && tab != domain.TabOverdue {
					t.Errorf("%s counts %d, want %d", what, counts.N[tab], len(want))
				}
			}
		}
	})
}
