package storetest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// identifying holds parts of everything that identifies the person to be erased.
var identifying = []string{"quux", "zaphod", "galaxy", "arthur", "trillian"}

// provisionWithHistory creates a person with a history in the company: former names
// and addresses, an offboarding, assignments in every status, and deliveries with
// responses.
func (f testCompany) provisionWithHistory(t *testing.T) (exam, course int64) {
	t.Helper()
	storetest.Endpoint(t, f.s, f.c.Company.ID)
	exam, course = f.addAssessment(), f.addCourse(domain.Course{Name: "Course"})
	must := func(what string, err error) {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	_, _, err := f.s.Provision(t.Context(), f.c, domain.Provision{ExternalID: "QUUX-1", Email: "Zaphod@galaxy.test", Name: "Zaphod B"})
	must("provision", err)
	f.assign("quux-old", "QUUX-1", exam)
	f.mustPatch("QUUX-1", domain.EmployeePatch{Tags: ptr([]string{"galaxy", "x"}), Email: ptr("arthur@galaxy.test"), Active: ptr(false)})
	_, _, err = f.s.Provision(t.Context(), f.c, domain.Provision{ExternalID: "QUUX-2", Email: "Arthur@galaxy.test", Name: "Arthur D"})
	must("provision again", err)
	f.mustPatch("QUUX-2", domain.EmployeePatch{Email: ptr("Trillian@galaxy.test"), Name: ptr("Trillian"), Tags: ptr([]string{"quux", "galaxy"})})
	passed, failed, begun := f.assign("quux-a", "QUUX-2", exam), f.assign("quux-b", "QUUX-2", exam), f.assign("quux-c", "QUUX-2", exam)
	done := f.assign("quux-d", "QUUX-2", course)
	when := time.Date(2026, 3, 31, 23, 59, 59, 0, time.UTC)
	f.report(ended("quux-1", passed.ID, when, 92_50), ended("quux-2", failed.ID, when, 10_00), ended("quux-3", failed.ID, when, 20_00),
		progress("quux-4", begun.ID, when, 40_00), progress("quux-5", done.ID, when, 100_00))
	late := before(f.s, time.Hour)
	_, err = f.tryAssign(domain.NewAssignment{ExternalID: "quux-late", EmployeeExternalID: "QUUX-2", CourseID: exam, Deadline: &late})
	must("assign", err)
	_, err = f.s.MarkOverdue(t.Context(), 10)
	must("sweep", err)
	change(t, f.s, `INSERT INTO delivery_attempts (company_id, delivery_id, number, url, started_at, duration_us, status_code, error_kind, error,
			request_headers, response_headers, response_body, requested_by)
		SELECT company_id, id, 1, 'https://hooks.test/', created_at, 1, 500, 'status', 'quux said no', '[]', '[{"name":"x","value":"zaphod"}]', $1, ''
		FROM deliveries`, []byte("sorry trillian"))
	f.logFailed(domain.FailedRequest{Subject: "QUUX-2", Body: []byte(`{"name":"Arthur"}`), Message: "quux"})
	return exam, course
}

func TestEraseLeavesNoTrace(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		// A growing SQLite file moves rows between pages: no copy may stay behind.
		f.provisionAll(numbered("before%03d", 0, 40)...)
		exam, course := f.provisionWithHistory(t)
		f.fold()
		f.provisionAll(numbered("after%03d", 0, 40)...)
		if len(mentions(dump(t, s), identifying...)) < 20 {
			t.Fatal("the dump holds too little to erase")
		}
		told := writtenSoFar{len(f.events()), len(f.audit())}
		if err := f.erase("QUUX-2"); err != nil {
			t.Fatal(err)
		}
		told.want(f, "erased", []string{"employee.removed QUUX-2"}, []string{"employee.deleted"})
		equal(t, "what holds the externalId", texts(t, s, `SELECT kind || ' ' || external_id FROM events WHERE external_id LIKE 'QUUX%' ORDER BY id`),
			[]string{"employee.removed QUUX-1", "employee.removed QUUX-2"})
		change(t, s, `DELETE FROM events WHERE kind = 'employee.removed'`)
		equal(t, "traces", mentions(dump(t, s), identifying...), []string{})
		s.Engine().ScrubDeleted(t.Context())
		wantNoTrace(t, s, identifying...)
		c := f.c.Company.ID
		equal(t, "results", texts(t, s, `SELECT CAST(course_id AS TEXT) || ' ' || coalesce(CAST(score AS TEXT), '-') || ' ' || CAST(attempts AS TEXT) || ' ' ||
			CASE WHEN passed THEN 'passed' ELSE 'not' END || ' ' || completed_month FROM anonymous_results WHERE company_id = $1 ORDER BY id`, c),
			[]string{fmt.Sprintf("%d 9250 1 passed 2026-03", exam), fmt.Sprintf("%d 2000 2 not 2026-03", exam), fmt.Sprintf("%d 10000 1 passed 2026-03", course)})
		f.wantErased(other)
	})
}

// wantErased checks how an erased person appears to the company and to another one.
func (f testCompany) wantErased(other testCompany) {
	f.t.Helper()
	ctx, c := f.t.Context(), f.c.Company.ID
	wantCode(f.t, "erase again", f.erase("QUUX-2"), domain.CodeEmployeeNotFound)
	_, _, err := f.s.Employee(ctx, c, "QUUX-2")
	wantCode(f.t, "the employee", err, domain.CodeEmployeeNotFound)
	_, err = f.s.AssignmentByExternalID(ctx, c, "quux-a")
	wantCode(f.t, "their assignment", err, domain.CodeAssignmentNotFound)
	equal(f.t, "deliveries", texts(f.t, f.s, `SELECT DISTINCT d.state || ' ' || d.error_kind || ' ' || CASE WHEN d.finished_at IS NULL THEN 'open' ELSE 'finished' END
		FROM deliveries d JOIN events e ON e.company_id = d.company_id AND e.id = d.event_id
		WHERE d.company_id = $1 AND e.erased_at IS NOT NULL`, c), []string{"failed erased finished"})
	equal(f.t, "deliveries of the others", number(f.t, f.s, `SELECT count(*) FROM deliveries WHERE company_id = $1 AND state = 'pending'
		AND event_id IN (SELECT id FROM events WHERE company_id = $1 AND kind = 'employee.joined' AND erased_at IS NULL)`, c), 40)
	if _, status, err := f.provision("QUUX-2", "trillian@galaxy.test"); status != domain.ProvisionCreated || err != nil {
		f.t.Errorf("provision the erased person again: %s, %v", status, err)
	}
	if _, status, err := other.provision("Q", "zaphod@galaxy.test"); status != domain.ProvisionCreated || err != nil {
		f.t.Errorf("provision a former address: %s, %v", status, err)
	}
}

func TestEraseFormer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		f.provisionAll("E1", "E2")
		other.provisionAll("E1")
		first := f.employee("E1")
		f.assign("A1", "E1", f.addAssessment())
		f.offboard("E1")
		if err := f.erase("E1"); err != nil {
			t.Fatal(err)
		}
		equal(t, "events", f.events(), []string{
			"employee.joined ", "employee.joined E2", "assignment.created ", "employee.removed E1", "employee.removed E1",
		})
		equal(t, "rows of the erased", number(t, s, `SELECT count(*) FROM employees WHERE company_id = $1`, f.c.Company.ID), 1)
		wantCode(t, "again", f.erase("E1"), domain.CodeEmployeeNotFound)
		equal(t, "in the other company", other.employee("E1").Email, "e1@x.test")
		e, status, err := f.provision("E1", "e1@x.test")
		if err != nil || status != domain.ProvisionLinked || e.ID == first.ID {
			t.Errorf("provision someone again whose account exists elsewhere: %s with id %d, before %d, %v", status, e.ID, first.ID, err)
		}
	})
}

// Two people have had the same externalId: each of them is erased separately.
func TestEraseOneOfTwo(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.join("E1", "anna")
		f.offboard("E1")
		f.join("E1", "bob")
		if err := f.erase("E1"); err != nil {
			t.Fatal(err)
		}
		left := dump(t, s)
		if len(mentions(left, f.email("bob"))) != 0 || len(mentions(left, f.email("anna"))) == 0 {
			t.Errorf("erasing Bob must leave Anna: %v", mentions(left, "@"))
		}
		_, _, err := s.Employee(t.Context(), f.c.Company.ID, "E1")
		wantCode(t, "who is left", err, domain.CodeEmployeeOffboarded)
	})
}

// Rows name administrators by id, so that erasing someone who used to be one
// leaves no trace and changes none of the rows that describe what the person did.
// Someone who still is an administrator stays one.
func TestEraseAdministrator(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		storetest.Endpoint(t, s, f.c.Company.ID)
		var token domain.Token
		for _, who := range []string{"former", "serving"} {
			email := who + "@office.test"
			change(t, s, `INSERT INTO administrators (email, email_folded, name, recovery_hashes, theme, created_at)
				VALUES ($1, $1, $2, '[]', '', $3)`, email, who, s.Now())
			id := number(t, s, `SELECT id FROM administrators WHERE email = $1`, email)
			change(t, s, `INSERT INTO sessions (hash, administrator_id, data, created_at, seen_at, expires_at, address, user_agent)
				VALUES ($1, $2, $1, $3, $3, $3, '', $4)`, []byte(who), id, s.Now(), who)
			if who == "serving" {
				change(t, s, `INSERT INTO company_administrators (company_id, administrator_id, added_at, added_by)
					VALUES ($1, $2, $3, $4)`, f.c.Company.ID, id, s.Now(), domain.Actor{Kind: domain.ActorPerson, ID: id - 1}.Ref())
			}
			as := f
			as.c.Actor = domain.Actor{Kind: domain.ActorPerson, ID: id, Label: email}
			made, err := s.CreateToken(t.Context(), as.c, domain.NewToken{Name: "x"}, domain.DigestToken(who))
			if err != nil {
				t.Fatal(err)
			}
			if who == "former" {
				token = made
			}
			as.provisionAll("of-" + who)
			as.redeliver()
			f.provision(who, email)
		}
		equal(t, "who created the token", f.tokenCreator(token.ID), "former@office.test")
		for _, line := range mentions(dump(t, s), "former@office") {
			if table, _, _ := strings.Cut(line, ":"); !slices.Contains([]string{"administrators", "employees", "accounts", "events"}, table) {
				t.Errorf("a row names an administrator by address: %s", line)
			}
		}
		watched, r := recordStatements(s)
		for _, who := range []string{"former", "serving"} {
			for _, it := range r.during(t, func() error { return f.with(watched).erase(who) }) {
				if strings.Contains(it.SQL, "UPDATE audit_entries") && strings.Contains(it.SQL, "actor") || strings.Contains(it.SQL, "SET requested_by") {
					t.Errorf("an erasure changes rows that only say who did something: %s", it.SQL)
				}
			}
		}
		equal(t, "who created the token, after the erasure", f.tokenCreator(token.ID), domain.FormerAdministrator)
		change(t, s, `DELETE FROM events`)
		left := dump(t, s)
		equal(t, "traces of the former one", mentions(left, "former@office"), []string{})
		if len(mentions(left, "serving@office")) != 1 {
			t.Errorf("an administrator who still serves is gone too: %v", mentions(left, "office"))
		}
	})
}

// redeliver sends one delivery again, and asks for a period to be sent again.
func (f testCompany) redeliver() {
	f.t.Helper()
	ctx, company := f.t.Context(), f.c.Company.ID
	change(f.t, f.s, `UPDATE deliveries SET state = 'failed' WHERE company_id = $1`, company)
	ids := texts(f.t, f.s, `SELECT CAST(id AS text) FROM deliveries WHERE company_id = $1 ORDER BY seq LIMIT 1`, company)
	if err := f.s.Redeliver(ctx, f.c, ids[0]); err != nil {
		f.t.Fatal(err)
	}
	from, to := before(f.s, time.Hour), f.s.Now().Add(time.Hour)
	job, err := f.s.AddRedelivery(ctx, f.c, domain.RedeliveryFilter{From: &from, To: &to, States: []domain.DeliveryState{domain.DeliveryFailed}})
	if err == nil {
		_, err = f.s.ContinueRedelivery(ctx, company, job.ID, 100)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f testCompany) tokenCreator(id int64) string {
	f.t.Helper()
	token, err := f.s.Token(f.t.Context(), f.c.Company.ID, id)
	if err != nil {
		f.t.Fatal(err)
	}
	return token.CreatedBy
}
