package storetest_test

import (
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// TestRecentCompletionsAreCappedWithoutFigures counts the recent completions of a company
// whose figures are not kept yet, as of one that an older version has filled. They are
// counted up to a limit then, and the tabs show that there are more.
func TestRecentCompletionsAreCappedWithoutFigures(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		storetest.Fill(t, s, f.c.Company.ID, storetest.Size{Employees: 10, Courses: 2, Assignments: domain.MaxTabCount + 50})
		f.exec(`UPDATE assignments SET status = 'completed', completed_at = $2 WHERE company_id = $1`, f.c.Company.ID, s.Now())
		f.exec(`UPDATE total_companies SET figures_kept_at = NULL WHERE company_id = $1`, f.c.Company.ID)
		counts, err := s.TabCounts(t.Context(), f.c.Company.ID, domain.AssignmentQuery{Tab: domain.TabCompleted, Recent: true})
		if err != nil {
			t.Fatal(err)
		}
		if n := counts.N[domain.TabCompleted]; n != domain.MaxTabCount || !counts.More {
			t.Errorf("counted %d, more is %v; want %d and true", n, counts.More, domain.MaxTabCount)
		}
	})
}
