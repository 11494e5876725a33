package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// wantTotals compares the total of every filter with the rows, and checks every kept
// total.
func (f testCompany) wantTotals(courses ...int64) {
	f.t.Helper()
	assignments := []domain.AssignmentFilter{{}, {EmployeeExternalID: "E1"}}
	for _, status := range domain.Statuses {
		assignments = append(assignments, domain.AssignmentFilter{Status: status}, domain.AssignmentFilter{Status: status, CourseID: courses[0]})
	}
	for _, course := range courses {
		assignments = append(assignments, domain.AssignmentFilter{CourseID: course})
	}
	for _, ago := range []time.Duration{0, 1500 * time.Millisecond, 11 * time.Second, time.Hour, 1000 * 24 * time.Hour} {
		since := before(f.s, ago)
		assignments = append(assignments, domain.AssignmentFilter{UpdatedSince: &since},
			domain.AssignmentFilter{UpdatedSince: &since, Status: domain.StatusStarted},
			domain.AssignmentFilter{UpdatedSince: &since, CourseID: courses[0]},
			domain.AssignmentFilter{UpdatedSince: &since, Status: domain.StatusAssigned, CourseID: courses[0]})
	}
	for _, filter := range assignments {
		rows := 0
		f.walk(filter, 100, func(domain.Assignment) { rows++ })
		for _, page := range []domain.PageRequest{{Number: 1, Limit: 1}, {Number: 1_000_000, Limit: 1}} {
			if got := f.assignments(filter, page).Total; got != int64(rows) {
				f.t.Errorf("the total of assignments %+v on page %d is %d, want %d", filter, page.Number, got, rows)
			}
		}
	}
	for _, tag := range []string{"", "red", "<b>&\u2028", "nobody has it"} {
		rows := 0
		f.walkFilteredEmployees(domain.EmployeeFilter{Tag: tag}, func(domain.Employee) { rows++ })
		if got := f.employees(domain.EmployeeFilter{Tag: tag}, domain.PageRequest{Number: 1, Limit: 1}).Total; got != int64(rows) {
			f.t.Errorf("the total of employees with the tag %q is %d, want %d", tag, got, rows)
		}
	}
	f.wantNoWrongTotals()
}

func (f testCompany) walkFilteredEmployees(filter domain.EmployeeFilter, see func(domain.Employee)) {
	f.t.Helper()
	page := domain.PageRequest{Limit: 50}
	for {
		list := f.employees(filter, page)
		for _, e := range list.Items {
			see(e)
		}
		if !list.More {
			return
		}
		page.After = &domain.Cursor{ID: list.Items[len(list.Items)-1].ID}
	}
}

func (f testCompany) wantNoWrongTotals() {
	f.t.Helper()
	wrong, err := f.s.CheckTotals(f.t.Context(), f.c.Company.ID)
	if err != nil {
		f.t.Fatal(err)
	}
	if len(wrong) > 0 {
		f.t.Errorf("kept totals are wrong: %+v", wrong)
	}
}

func (f testCompany) fold() {
	f.t.Helper()
	if err := f.s.FoldTotals(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// changeAtRandom makes one change of a random kind. What it changes may not exist.
func (f testCompany) changeAtRandom(ctx context.Context, name string, courses []int64) error {
	person := fmt.Sprintf("E%d", rand.IntN(12))
	ids := []int64{rand.Int64N(200) + 1, rand.Int64N(200) + 1}
	switch rand.IntN(10) {
	case 0, 1:
		_, _, err := f.s.Provision(ctx, f.c, domain.Provision{ExternalID: person, Email: person + "@totals.test", Name: person})
		return err
	case 2:
		tags := [][]string{{}, {"red"}, {"red", "<b>&\u2028"}, {"blue"}}[rand.IntN(4)]
		_, err := f.s.PatchEmployee(ctx, f.c, person, domain.EmployeePatch{Tags: &tags})
		return err
	case 3:
		_, err := f.s.PatchEmployee(ctx, f.c, person, domain.EmployeePatch{Active: ptr(rand.IntN(2) == 0)})
		return err
	case 4:
		return f.s.DeleteEmployee(ctx, f.c, person)
	case 5:
		return f.s.Revoke(ctx, f.c, ids[0])
	case 6:
		at := f.s.Now()
		_, err := f.s.RecordActivities(ctx, []domain.ActivityItem{
			{Activity: started(name+"s", ids[0], at)}, {Activity: ended(name+"e", ids[1], at, domain.Points(rand.IntN(100)*100))},
		})
		return err
	case 7:
		_, err := f.s.MarkOverdue(ctx, 5)
		return err
	case 8:
		return f.s.FoldTotals(ctx)
	}
	var items []domain.BulkItem
	for i := range 20 {
		in := item(fmt.Sprintf("%s-%d", name, i), fmt.Sprintf("E%d", rand.IntN(12)), courses[rand.IntN(len(courses))])
		in.New.Deadline = ptr(before(f.s, time.Duration(rand.IntN(10)-8)*time.Minute))
		in.New.IsRequired = ptr(rand.IntN(2) == 0)
		items = append(items, in)
	}
	_, err := f.s.Assign(ctx, f.c, items)
	return err
}

// workAtRandom makes changes in parallel. Every tenth is interrupted on its way, as
// by a process that ends.
func (f testCompany) workAtRandom(round string, courses []int64) {
	f.t.Helper()
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 40 {
				ctx, cancel := context.WithCancel(f.t.Context())
				if i%10 == 9 {
					time.AfterFunc(time.Duration(rand.IntN(3000))*time.Microsecond, cancel)
				}
				err := f.changeAtRandom(ctx, fmt.Sprintf("%s-%d-%d", round, worker, i), courses)
				var known *domain.Error
				if err != nil && ctx.Err() == nil && !errors.As(err, &known) {
					f.t.Errorf("change: %v", err)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	f.waitForWriters()
}

// waitForWriters waits for interrupted transactions, which a PostgreSQL server may
// still be about to commit.
func (f testCompany) waitForWriters() {
	f.t.Helper()
	if f.s.Engine().Name() == "sqlite" {
		return
	}
	for end := f.s.Now(); ; {
		at, err := f.s.Engine().Watermark(f.t.Context())
		if err != nil {
			f.t.Fatal(err)
		}
		if at.After(end) {
			return
		}
	}
}

func TestTotalsAreExactAfterRandomWork(t *testing.T) {
	t.Parallel()
	for engine, address := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			database := address(t)
			s := storetest.Open(t, database)
			f := newTestCompany(t, s)
			courses := []int64{f.addAssessment(), f.addCourse(domain.Course{Name: "Course"})}
			f.workAtRandom("first", courses)
			f.wantTotals(courses...)
			again := f.with(storetest.Open(t, database)) // as after a restart
			again.workAtRandom("second", courses)
			again.wantTotals(courses...)
			f.fold()
			again.wantTotals(courses...)
			if n := number(t, s, `SELECT count(*) FROM total_changes`); n != 0 {
				t.Errorf("%d changes are left after a fold", n)
			}
		})
	}
}

func TestWrongTotalsAreFoundAndRepaired(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		course := f.addAssessment()
		f.provisionAll("E1", "E2")
		f.mustPatch("E1", domain.EmployeePatch{Tags: ptr([]string{"red"})})
		f.bulk(keys(numbered("A%d", 0, 10), []string{"E1", "E2"}, course)...)
		f.fold()
		change(t, s, `UPDATE totals SET n = n + 7 WHERE company_id = $1 AND kind = 'status'`, f.c.Company.ID)
		change(t, s, `DELETE FROM totals WHERE company_id = $1 AND text_key = 'red'`, f.c.Company.ID)
		f.bulk(keys(numbered("B%d", 0, 5), []string{"E1", "E2"}, course)...)
		wrong, err := s.CheckTotals(t.Context(), f.c.Company.ID)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "wrong totals", wrong, []domain.WrongTotal{
			{Kind: "status", Number: course, Text: "assigned", Missing: -7}, {Kind: "employee", Text: "red", Missing: 1},
		})
		if err := s.RepairTotals(t.Context(), f.c.Company.ID); err != nil {
			t.Fatal(err)
		}
		f.wantTotals(course)
	})
}

func TestWrongTotalsAreFoundInEveryRange(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		courses := []int64{f.addAssessment(), f.addAssessment()}
		f.provisionAll("E1", "E2")
		for i, course := range courses {
			f.bulk(keys(numbered(fmt.Sprintf("A%d-%%d", i), 0, 10), []string{"E1", "E2"}, course)...)
		}
		monthAgo := s.Now().AddDate(0, -1, 0).Truncate(24 * time.Hour)
		change(t, s, `UPDATE assignments SET updated_at = $2 WHERE company_id = $1 AND course_id = $3`, f.c.Company.ID, monthAgo, courses[1])
		f.fold()
		f.wantTotals(courses...)
		company := f.c.Company.ID
		change(t, s, `UPDATE totals SET n = n + 1 WHERE company_id = $1 AND kind = 'status' AND number_key = $2`, company, courses[1])
		change(t, s, `UPDATE totals SET n = n - 2 WHERE company_id = $1 AND kind = 'updated_day' AND number_key = $2`, company, monthAgo.Unix())
		change(t, s, `INSERT INTO totals (company_id, kind, number_key, text_key, n) VALUES ($1, 'overdue', 99999, '', 3)`, company)
		wrong, err := s.CheckTotals(t.Context(), company)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "wrong totals", wrong, []domain.WrongTotal{
			{Kind: "status", Number: courses[1], Text: "assigned", Missing: -1}, {Kind: "overdue", Number: 99999, Missing: -3},
			{Kind: "updated_day", Number: monthAgo.Unix(), Missing: 2},
		})
		if err := s.RepairTotals(t.Context(), company); err != nil {
			t.Fatal(err)
		}
		f.wantTotals(courses...)
	})
}

func TestTotalsOfAnOlderDatabaseAreCounted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		courses := []int64{f.addAssessment()}
		f.workAtRandom("old", courses)
		change(t, s, `DELETE FROM total_changes`) // as if a program without totals had done this
		change(t, s, `DELETE FROM totals`)
		change(t, s, `DELETE FROM total_companies`)
		f.workAtRandom("between", courses)
		change(t, s, `DELETE FROM total_companies`)
		if got := f.with(store.New(s.Engine())).homeFigures(); !got.Counting {
			t.Error("figures that are not counted are shown as complete")
		}
		f = f.with(store.New(s.Engine())) // as after a restart
		f.wantTotals(courses...)
		f.fold()
		f.wantTotals(courses...)
		if n := number(t, s, `SELECT count(*) FROM total_companies WHERE kept_at IS NOT NULL`); n != 1 {
			t.Errorf("%d companies have totals, want 1", n)
		}
	})
}

func TestAssignmentTotals(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		exam, course := f.addAssessment(), f.addCourse(domain.Course{Name: "Course"})
		f.provisionAll("E1")
		late := f.assignWithDeadline("late", "E1", exam, before(s, time.Hour))
		f.sweep(10)
		f.assignWithDeadline("not swept", "E1", course, before(s, time.Hour))
		f.assign("A", "E1", exam)
		f.report(started("1", late.ID, s.Now()))
		want := domain.AssignmentTotals{
			exam:   {ByStatus: map[domain.Status]int{domain.StatusStarted: 1, domain.StatusAssigned: 1}, Overdue: 1},
			course: {ByStatus: map[domain.Status]int{domain.StatusAssigned: 1}, Overdue: 1},
		}
		for _, state := range []string{"with changes", "folded", "not kept"} {
			got, err := s.AssignmentTotals(t.Context(), f.c.Company.ID)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "totals "+state, got, want)
			f.fold()
			if state == "folded" {
				change(t, s, `DELETE FROM total_companies`)
			}
		}
		all := want.Company()
		if all.Count() != 3 || all.Overdue != 2 {
			t.Errorf("the company has %d assignments and %d are overdue, want 3 and 2", all.Count(), all.Overdue)
		}
	})
}

// An erasure deletes the changes of a company whose totals are being counted for the
// first time, because they hold tags. The totals are right all the same.
func TestTotalsAreExactAfterErasuresDuringTheFirstCount(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("worker")
		for n := range 6 { // their totals are counted before and after those of the employees
			f.assign(fmt.Sprint("a", n), "worker", f.addCourse(domain.Course{Name: fmt.Sprint("Course ", n)}))
		}
		for round := range 3 {
			change(t, s, `DELETE FROM total_companies`)
			counted := make(chan error, 1)
			go func() { counted <- s.RepairTotals(t.Context(), f.c.Company.ID) }()
			for n, isCounted := 0, false; !isCounted; n++ {
				for _, name := range []string{fmt.Sprint("stays-", round, "-", n), fmt.Sprint("goes-", round, "-", n)} {
					f.provisionAll(name)
					if _, err := f.patch(name, domain.EmployeePatch{Tags: &[]string{"night shift"}}); err != nil {
						t.Fatal(err)
					}
				}
				if err := f.erase(fmt.Sprint("goes-", round, "-", n)); err != nil {
					t.Fatal(err)
				}
				select {
				case err := <-counted:
					if isCounted = true; err != nil {
						t.Fatal(err)
					}
				default:
				}
			}
			wrong, err := s.CheckTotals(t.Context(), f.c.Company.ID)
			if err != nil || len(wrong) > 0 {
				t.Fatalf("round %d: wrong totals: %v, %v", round, wrong, err)
			}
		}
	})
}
