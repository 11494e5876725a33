package domain_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestCoursesAreNarrowedAndSorted(t *testing.T) {
	t.Parallel()
	overview := func(c domain.Course, assigned, completed, overdue int) domain.CourseOverview {
		return domain.CourseOverview{Course: c, Totals: domain.CourseTotals{
			ByStatus: map[domain.Status]int{domain.StatusAssigned: assigned, domain.StatusCompleted: completed}, Overdue: overdue,
		}}
	}
	all := []domain.CourseOverview{
		overview(domain.Course{ID: 1, Name: "Workplace safety", IsAssessment: true}, 1, 1, 3),
		overview(domain.Course{ID: 2, Name: "data protection", ExternalID: "DP-1"}, 0, 0, 0),
		overview(domain.Course{ID: 3, Name: "Zen", ParentID: 1}, 9, 1, 0),
	}
	for name, test := range map[string]struct {
		query domain.CourseQuery
		want  []int64
	}{
		"all by name":       {domain.CourseQuery{}, []int64{2, 1, 3}},
		"a word of a name":  {domain.CourseQuery{Search: "SAF"}, []int64{1}},
		"an external id":    {domain.CourseQuery{Search: "dp-"}, []int64{2}},
		"assessments":       {domain.CourseQuery{Show: domain.CoursesAssessments}, []int64{1}},
		"slices":            {domain.CourseQuery{Show: domain.CoursesSlices}, []int64{3}},
		"archived":          {domain.CourseQuery{Show: domain.CoursesArchived}, nil},
		"most assigned":     {domain.CourseQuery{Order: domain.CoursesByAssigned}, []int64{3, 1, 2}},
		"most overdue":      {domain.CourseQuery{Order: domain.CoursesByOverdue}, []int64{1, 2, 3}},
		"least completed":   {domain.CourseQuery{Order: domain.CoursesByCompletion}, []int64{3, 1, 2}},
		"with archived too": {domain.CourseQuery{Show: domain.CoursesAll}, []int64{2, 1, 3}},
	} {
		var got []int64
		for _, o := range test.query.Select(all) {
			got = append(got, o.ID)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestMedianDays(t *testing.T) {
	t.Parallel()
	for want, counts := range map[int]map[int]int64{
		0: {-3: 5, 0: 1}, 2: {1: 4, 2: 1, 9: 4}, 5: {5: 1},
	} {
		if got, ok := domain.MedianDays(counts); got != want || !ok {
			t.Errorf("the median of %v is %d, want %d", counts, got, want)
		}
	}
	if _, ok := domain.MedianDays(nil); ok {
		t.Error("nothing has a median")
	}
}
