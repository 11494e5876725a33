package storetest_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func TestProvisionRaces(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		replicas := []testCompany{f, f.with(store.New(s.Engine())), f.with(store.New(s.Engine()))}
		var same, rival, back resultCounts
		race(32, func(i int) {
			_, status, err := replicas[i%3].provision("E1", "e1@x.test")
			same.add(string(status), err)
		})
		equal(t, "32 times one externalId", same.counts, map[string]int{"created": 1, "found": 31})
		race(16, func(i int) {
			_, status, err := replicas[i%3].provision(fmt.Sprintf("R%d", i), "rival@x.test")
			rival.add(string(status), err)
		})
		equal(t, "16 externalIds of one email", rival.counts, map[string]int{"created": 1, "email_taken": 15})
		f.offboard("E1")
		race(16, func(i int) {
			_, status, err := replicas[i%3].provision("E9", "e1@x.test")
			back.add(string(status), err)
		})
		equal(t, "16 times someone who comes back", back.counts, map[string]int{"linked": 1, "found": 15})
		equal(t, "employees", number(t, s, `SELECT count(*) FROM employees`), 2)
		equal(t, "accounts", number(t, s, `SELECT count(*) FROM accounts`), 2)
		equal(t, "events of E1", mentions(f.events(), " E"), []string{"employee.joined E1", "employee.removed E1", "employee.joined E9"})
		equal(t, "entries", len(f.audit()), 4)
	})
}

// Concurrent requests share a transaction: of several companies, for new, existing
// and former employees, and with conflicts.
func TestProvisionTogether(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		companies := []testCompany{newTestCompany(t, s), newTestCompany(t, s), newTestCompany(t, s)}
		for i, f := range companies {
			f.provisionAll("known", "former")
			f.offboard("former")
			if i > 0 {
				continue
			}
			if _, err := s.Join(t.Context(), f.c, domain.Newcomer{Email: "joined@x.test", Name: "Joined", Role: domain.RoleEmployee}); err != nil {
				t.Fatal(err)
			}
		}
		var got resultCounts
		race(60, func(i int) {
			f := companies[i%3]
			id, email := fmt.Sprintf("E%d", i), fmt.Sprintf("e%d@x.test", i)
			switch i / 3 {
			case 0:
				id, email = "known", "known@x.test"
			case 1:
				email = "former@x.test"
			case 2:
				id = "known"
			case 3:
				email = "known@x.test"
			case 4:
				email = "joined@x.test"
			}
			e, status, err := f.provision(id, email)
			got.add(string(status), err)
			if err == nil && (e.ExternalID != id || e.Email != email || e.CompanyID != f.c.Company.ID) {
				t.Errorf("provision %s with %s returned %+v", id, email, e)
			}
		})
		equal(t, "answers", got.counts, map[string]int{
			"found": 3, "linked": 3 + 3, "external_id_taken": 3, "email_taken": 3, "created": 45,
		})
		race(45, func(i int) {
			id := fmt.Sprintf("E%d", 15+i)
			e, _, err := s.Employee(t.Context(), companies[i%3].c.Company.ID, id)
			if err != nil || e.ExternalID != id || e.CompanyID != companies[i%3].c.Company.ID {
				t.Errorf("employee %s: %+v, %v", id, e, err)
			}
		})
	})
}

// Companies share accounts: one may start to use an account while another stops.
func TestAccountRaces(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		companies := make([]testCompany, 6)
		for i := range companies {
			companies[i] = newTestCompany(t, s)
		}
		var first resultCounts
		race(len(companies), func(i int) {
			_, status, err := companies[i].provision("E1", "shared@x.test")
			first.add(string(status), err)
		})
		equal(t, "6 companies take one address", first.counts, map[string]int{"created": 1, "linked": 5})
		for round := range 15 {
			var got resultCounts
			mail, next := fmt.Sprintf("m%d@x.test", round), fmt.Sprintf("n%d@x.test", round)
			companies[0].provisionAll(fmt.Sprintf("A%d", round))
			companies[0].mustPatch(fmt.Sprintf("A%d", round), domain.EmployeePatch{Email: &mail})
			race(3, func(i int) {
				var err error
				switch i {
				case 0:
					err = companies[0].erase(fmt.Sprintf("A%d", round))
				case 1:
					_, _, err = companies[1].provision(fmt.Sprintf("B%d", round), mail)
				case 2:
					_, _, err = companies[2].provision(fmt.Sprintf("C%d", round), mail)
					if err == nil {
						_, err = companies[2].patch(fmt.Sprintf("C%d", round), domain.EmployeePatch{Email: &next})
					}
				}
				got.add("ok", err)
			})
			equal(t, "give up and take up", got.counts, map[string]int{"ok": 3})
		}
		equal(t, "accounts", number(t, s, `SELECT count(*) FROM accounts`), 1+2*15)
	})
}

func TestActiveRaces(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1")
		for range 5 {
			for _, active := range []bool{false, true} {
				var got resultCounts
				race(8, func(int) {
					out, err := f.patch("E1", domain.EmployeePatch{Active: &active})
					got.add(fmt.Sprint(out.Offboarded), err)
				})
				equal(t, fmt.Sprintf("8 times active %v", active), got.counts, map[string]int{fmt.Sprint(!active): 8})
			}
		}
		equal(t, "events", len(f.events()), 1+2*5)
	})
}

// raceOver calls every act in parallel for each of n new employees, and returns the
// numbers of the results.
func (f testCompany) raceOver(n int, acts ...func(externalID string) error) map[string]int {
	var got resultCounts
	for i := range n {
		id := fmt.Sprintf("S%d", i)
		f.provisionAll(id)
		race(len(acts), func(k int) { got.add("ok", acts[k](id)) })
	}
	return got.counts
}

// wantOnly checks that calls succeeded or failed with one of the allowed codes.
func wantOnly(t *testing.T, got map[string]int, allowed ...domain.Code) {
	t.Helper()
	for what, n := range got {
		fine := what == "ok"
		for _, code := range allowed {
			fine = fine || what == string(code)
		}
		if !fine {
			t.Errorf("%d calls returned %s", n, what)
		}
	}
}

func TestOffboardAgainstAssign(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		exam := f.addAssessment()
		assign := func(suffix string) func(id string) error {
			return func(id string) error {
				_, err := f.tryAssign(domain.NewAssignment{ExternalID: id + suffix, EmployeeExternalID: id, CourseID: exam})
				return err
			}
		}
		offboard := func(id string) error {
			_, err := f.patch(id, domain.EmployeePatch{Active: ptr(false)})
			return err
		}
		got := f.raceOver(25, assign("a"), offboard, assign("b"), assign("c"))
		wantOnly(t, got, domain.CodeEmployeeOffboarded)
		equal(t, "offboarded", number(t, s, `SELECT count(*) FROM employees WHERE left_at IS NOT NULL`), 25)
		equal(t, "live assignments of former employees", number(t, s, `SELECT count(*) FROM assignments WHERE revoked_at IS NULL`), 0)
		equal(t, "assignments and their events", number(t, s, `SELECT count(*) FROM events WHERE kind = 'assignment.created'`),
			number(t, s, `SELECT count(*) FROM assignments`))
	})
}

// An erasure leaves nothing behind, whatever else is written for the person at the
// same time.
func TestEraseAgainstEverything(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		exam := f.addAssessment()
		late := before(s, time.Hour)
		patch := func(id string) error {
			_, err := f.patch(id, domain.EmployeePatch{Name: ptr("Other " + id), Tags: ptr([]string{"tag-" + id}), Email: ptr("other-" + address(id))})
			return err
		}
		assign := func(id string) error {
			_, err := f.tryAssign(domain.NewAssignment{ExternalID: "late-" + id, EmployeeExternalID: id, CourseID: exam, Deadline: &late})
			return err
		}
		learn := func(id string) error {
			list, err := s.Assignments(t.Context(), f.c.Company.ID, domain.AssignmentFilter{EmployeeExternalID: id}, domain.PageRequest{Number: 1, Limit: 10})
			for _, a := range list.Items {
				f.report(domain.Activity{ID: "act-" + a.ExternalID, AssignmentID: a.ID, Type: domain.ActivityAttemptFinished, Score: ptr(domain.Points(90_00))})
			}
			return err
		}
		sweep := func(string) error { _, err := s.MarkOverdue(t.Context(), 10); return err }
		erase := func(id string) error {
			if _, err := f.tryAssign(domain.NewAssignment{ExternalID: "first-" + id, EmployeeExternalID: id, CourseID: exam}); err != nil {
				return err
			}
			return f.erase(id)
		}
		got := f.raceOver(40, erase, patch, assign, learn, sweep, learn, patch, learn)
		wantOnly(t, got, domain.CodeEmployeeNotFound)
		left := mentions(dump(t, s), "name of s", "other s", "tag-s", "@x.test", "late-s", "first-s", "act-")
		equal(t, "traces of the erased", left, []string{})
		wantNoTrace(t, s, "name of s", "other s", "tag-s", "@x.test", "late-s", "first-s", "act-")
		equal(t, "employees", number(t, s, `SELECT count(*) FROM employees`), 0)
		equal(t, "accounts", number(t, s, `SELECT count(*) FROM accounts`), 0)
	})
}

// A delivery is sent again while its person is being erased: it waits for the erasure,
// and is refused then.
func TestRedeliveryThatRacesAnErasure(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		storetest.Endpoint(t, s, f.c.Company.ID)
		f.provisionAll("E1")
		id := texts(t, s, `SELECT CAST(id AS text) FROM deliveries WHERE company_id = $1`, f.c.Company.ID)[0]
		erasing, erasure := pauseBeforeCommit(s)
		erased := begin(t, func() error { return f.with(erasing).erase("E1") })
		<-erasure.reached
		var err error
		redelivered := begin(t, func() error {
			err = s.Redeliver(t.Context(), f.c, id)
			return nil
		})
		waitUntilBlocked(t, s, redelivered)
		close(erasure.release)
		<-erased
		<-redelivered
		if !errors.Is(err, domain.ErrDeliveryErased) {
			t.Errorf("the delivery of an erased event was accepted: %v", err)
		}
	})
}
