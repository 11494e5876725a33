package storetest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// keepAssignments returns a yield function that copies the rows of a report, which
// are valid only until it returns.
func keepAssignments(to *[]domain.Assignment) func([]domain.Assignment) error {
	return func(rows []domain.Assignment) error {
		for _, a := range rows {
			if a.Score != nil {
				score := *a.Score
				a.Score = &score
			}
			for _, p := range []**time.Time{&a.StartedAt, &a.CompletedAt, &a.LastActivityAt} {
				if *p != nil {
					at := **p
					*p = &at
				}
			}
			*to = append(*to, a)
		}
		return nil
	}
}

// listed returns the assignments of the list by ascending id, with the fields that
// reports show.
func listed(t *testing.T, s *store.Store, company int64, f domain.AssignmentFilter) (all []domain.Assignment) {
	t.Helper()
	for page := 1; ; page++ {
		got, err := s.Assignments(t.Context(), company, f, domain.PageRequest{Number: page, Limit: domain.MaxLimit})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range got.Items {
			all = append(all, domain.Assignment{
				ID: a.ID, ExternalID: a.ExternalID, EmployeeID: a.EmployeeID, EmployeeExternalID: a.EmployeeExternalID,
				EmployeeEmail: a.EmployeeEmail, EmployeeName: a.EmployeeName, CourseID: a.CourseID, CourseName: a.CourseName,
				IsRequired: a.IsRequired, AssignedAt: a.AssignedAt, Deadline: a.Deadline,
				Progress: domain.Progress{
					Status: a.Status, Percent: a.Percent, Score: a.Score, Attempts: a.Attempts,
					StartedAt: a.StartedAt, CompletedAt: a.CompletedAt, LastActivityAt: a.LastActivityAt,
				},
			})
		}
		if !got.More {
			slices.SortFunc(all, func(a, b domain.Assignment) int { return int(a.ID - b.ID) })
			return all
		}
	}
}

func TestAssignmentReportIsTheList(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := storetest.Company(t, s, "Report").Company.ID
		other := storetest.Company(t, s, "Other").Company.ID
		filled := storetest.Fill(t, s, c, storetest.Size{Employees: 300, Courses: 7, Assignments: 5000})
		storetest.Fill(t, s, other, storetest.Size{Employees: 10, Courses: 2, Assignments: 50})
		change(t, s, `UPDATE assignments SET revoked_at = updated_at WHERE company_id = $1 AND id % 11 = 0`, c)
		change(t, s, `UPDATE employees SET external_id = NULL WHERE company_id = $1 AND id = $2`, c, filled.Employees[0])
		late, early := storetest.FilledFrom.Add(4500*time.Second), storetest.FilledFrom.Add(10*time.Second)
		for name, f := range map[string]domain.AssignmentFilter{
			"all":                    {},
			"status":                 {Status: domain.StatusFailed},
			"employee":               {EmployeeExternalID: "emp-7"},
			"employee of nobody":     {EmployeeExternalID: "emp-700"},
			"course":                 {CourseID: filled.Courses[2]},
			"course of others":       {CourseID: 1 << 40},
			"few updated":            {UpdatedSince: &late},
			"many updated":           {UpdatedSince: &early},
			"many updated of status": {UpdatedSince: &early, Status: domain.StatusCompleted},
			"all at once":            {UpdatedSince: &early, Status: domain.StatusCompleted, EmployeeExternalID: "emp-7", CourseID: filled.Courses[2]},
		} {
			var got []domain.Assignment
			if err := s.AssignmentReport(t.Context(), c, f, keepAssignments(&got)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if diff := difference(listed(t, s, c, f), got); diff != "" {
				t.Errorf("%s: list and report differ (-list +report):\n%s", name, diff)
			}
		}
	})
}

func TestEmployeeReportIsTheList(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := storetest.Company(t, s, "Report").Company.ID
		filled := storetest.Fill(t, s, c, storetest.Size{Employees: 600, Courses: 7, Assignments: 2000})
		change(t, s, `UPDATE assignments SET revoked_at = updated_at WHERE company_id = $1 AND id % 11 = 0`, c)
		change(t, s, `DELETE FROM assignments WHERE company_id = $1 AND employee_id = $2`, c, filled.Employees[3])
		change(t, s, `UPDATE employees SET left_at = joined_at WHERE company_id = $1 AND id = $2`, c, filled.Employees[5])
		now := storetest.FilledFrom.AddDate(0, 0, 30).Add(900 * time.Second)
		for _, f := range []domain.EmployeeFilter{{}, {Tag: "third"}, {Tag: "none"}} {
			var got []domain.EmployeeSummary
			err := s.EmployeeReport(t.Context(), c, f, now, func(rows []domain.EmployeeSummary) error {
				got = append(got, rows...)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := difference(summaries(t, s, c, f, now), got); diff != "" {
				t.Errorf("%+v (-want +got):\n%s", f, diff)
			}
		}
	})
}

// summaries counts assignments with the rules of package domain.
func summaries(t *testing.T, s *store.Store, company int64, f domain.EmployeeFilter, now time.Time) (all []domain.EmployeeSummary) {
	t.Helper()
	counted := map[int64]*domain.EmployeeSummary{}
	for page := 1; ; page++ {
		got, err := s.Employees(t.Context(), company, f, domain.PageRequest{Number: page, Limit: domain.MaxLimit})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range got.Items {
			counted[e.ID] = &domain.EmployeeSummary{Employee: e}
		}
		if !got.More {
			break
		}
	}
	for _, a := range listed(t, s, company, domain.AssignmentFilter{}) {
		e := counted[a.EmployeeID]
		if e == nil {
			continue
		}
		*map[domain.Status]*int64{
			domain.StatusAssigned: &e.Assigned, domain.StatusStarted: &e.Started, domain.StatusCompleted: &e.Completed,
			domain.StatusFailed: &e.Failed, domain.StatusNeedsRetry: &e.NeedsRetry,
		}[a.Status]++
		if a.Overdue(now) {
			e.Overdue++
		}
	}
	for _, e := range counted {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b domain.EmployeeSummary) int { return int(a.ID - b.ID) })
	return all
}

// A report shows one state of the database, whatever is written while it is read.
func TestReportIsOneSnapshot(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := storetest.Company(t, s, "Snapshot").Company.ID
		filled := storetest.Fill(t, s, c, storetest.Size{Employees: 300, Courses: 7, Assignments: 10_000})
		want := listed(t, s, c, domain.AssignmentFilter{})
		var got []domain.Assignment
		keep := keepAssignments(&got)
		err := s.AssignmentReport(t.Context(), c, domain.AssignmentFilter{}, func(rows []domain.Assignment) error {
			if len(got) == 0 {
				change(t, s, `UPDATE assignments SET status = 'completed', percent = 10000 WHERE company_id = $1`, c)
				change(t, s, `UPDATE employees SET name = 'Changed' WHERE company_id = $1`, c)
				change(t, s, `UPDATE courses SET name = 'Changed' WHERE owner_company_id = $1`, c)
				change(t, s, `DELETE FROM assignments WHERE company_id = $1 AND id = $2`, c, filled.Assignments[9_999])
			}
			return keep(rows)
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := difference(want, got); diff != "" {
			t.Errorf("the report shows changes made after its start (-before +report):\n%s", diff)
		}
	})
}

// A report whose reader stops also stops reading, and releases its connection.
func TestReportGivenUp(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := storetest.Company(t, s, "Given up").Company.ID
		storetest.Fill(t, s, c, storetest.Size{Employees: 300, Courses: 7, Assignments: 20_000})
		enough := errors.New("enough")
		for range 40 { // more often than there are connections
			rows := 0
			err := s.AssignmentReport(t.Context(), c, domain.AssignmentFilter{}, func(b []domain.Assignment) error {
				rows += len(b)
				return enough
			})
			if !errors.Is(err, enough) || rows == 0 || rows > 1000 {
				t.Fatalf("the report returned %v after %d rows", err, rows)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		rows := 0
		err := s.EmployeeReport(ctx, c, domain.EmployeeFilter{}, s.Now(), func(b []domain.EmployeeSummary) error {
			cancel()
			rows += len(b)
			return nil
		})
		if rows < 300 && !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled report returned after %d of 300 rows: %v", rows, err)
		}
	})
}

func TestReportOfBrokenDatabase(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.Postgres(t))
	c := storetest.Company(t, s, "Broken").Company.ID
	storetest.Fill(t, s, c, storetest.Size{Employees: 300, Courses: 7, Assignments: 20_000})
	rows := 0
	err := s.AssignmentReport(t.Context(), c, domain.AssignmentFilter{}, func(b []domain.Assignment) error {
		if rows == 0 {
			change(t, s, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%FROM assignments a%'`)
		}
		rows += len(b)
		return nil
	})
	if domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("the report failed after %d rows with %v, want the code %s", rows, err, domain.CodeUnavailable)
	}
}
