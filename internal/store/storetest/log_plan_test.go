package storetest_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// exerciseLogs runs every query of the delivery log and the audit log once.
func exerciseLogs(f testCompany) error {
	ctx, s, company := f.t.Context(), f.s, f.c.Company.ID
	past, now := before(s, time.Hour), s.Now()
	states := []domain.DeliveryState{"", domain.DeliveryPending, domain.DeliveryDelivered, domain.DeliveryFailed, domain.DeliveryHeld}
	for _, state := range states {
		for _, endpoint := range []int64{0, 1} {
			for _, kind := range []domain.EventKind{"", domain.EventEmployeeJoined} {
				for _, more := range []domain.DeliveryFilter{{}, {Search: "E1"}, {Retried: true}, {From: &past, To: &now}} {
					more.State, more.EndpointID, more.Kind = state, endpoint, kind
					if _, err := s.Deliveries(ctx, company, more, &domain.Cursor{At: now.UnixMilli(), UUID: "00000000-0000-7000-8000-000000000000"}, 50); err != nil {
						return err
					}
				}
				again := domain.RedeliveryFilter{EndpointID: endpoint, Kind: kind, From: &past, To: &now, States: []domain.DeliveryState{domain.DeliveryFailed, domain.DeliveryHeld}}
				if _, err := s.CountRedeliverable(ctx, company, again); err != nil {
					return err
				}
			}
			if _, err := s.EndpointHealth(ctx, company, endpoint, past); err != nil {
				return err
			}
		}
	}
	for _, filter := range []domain.AuditFilter{
		{}, {Action: "employee."}, {Actor: domain.ActorOperator}, {Action: "employee.", Actor: domain.ActorOperator, From: &past},
		{Search: "E1"}, {Search: "test"}, {Search: "employee 1", Action: "employee."}, {Search: "0190b0f2-7a3c"},
	} {
		for _, after := range []*domain.Cursor{nil, {At: now.UnixMilli(), ID: 7}} {
			if _, err := s.AuditEntries(ctx, company, filter, domain.PageRequest{Limit: 50, After: after}); err != nil {
				return err
			}
		}
	}
	return nil
}

// scanned matches a step of SQLite's plan that reads all of a log. PostgreSQL is
// measured on a million rows by test/load.
var scanned = regexp.MustCompile(`SCAN (e|d|v|x|y|z|a|t)\b`)

func TestLogsAreReadByIndexes(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite(t))
	watched, r := recordStatements(s)
	f := newTestCompany(t, s)
	f.provisionAll("E1")
	items := r.during(t, func() error { return exerciseLogs(f.with(watched)) })
	explained := map[string]bool{}
	for _, it := range items {
		if explained[it.SQL] || !strings.Contains(it.SQL, "$") {
			continue
		}
		explained[it.SQL] = true
		plan := explain(t, s, it)
		if scanned.MatchString(plan) || strings.Contains(plan, "AUTOMATIC") {
			t.Errorf("%s\n%s", it.SQL, plan)
		}
	}
	if len(explained) < 60 {
		t.Errorf("only %d statements were explained", len(explained))
	}
}

// sorted matches a plan of SQLite that reads an index and then sorts the rows. A plan
// that reads an index in its order ends when the page is full.
var sorted = regexp.MustCompile(`SEARCH [ed] USING (COVERING )?INDEX (deliveries|audit_entries)_[^\n]*\nUSE TEMP B-TREE`)

func TestLogsAreReadInOrder(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite(t))
	watched, r := recordStatements(s)
	f := newTestCompany(t, s)
	f.provisionAll("E1")
	check := func(filter any, read func() error) {
		items := r.during(t, read)
		last := items[len(items)-1]
		if plan := explain(t, s, last); sorted.MatchString(plan) {
			t.Errorf("%+v: %s\n%s", filter, last.SQL, plan)
		}
	}
	for _, filter := range []domain.DeliveryFilter{
		{}, {EndpointID: 1}, {Kind: domain.EventEmployeeJoined}, {State: domain.DeliveryFailed}, {State: domain.DeliveryHeld, Kind: domain.EventEmployeeJoined},
		{State: domain.DeliveryDelivered, EndpointID: 1}, {Retried: true, EndpointID: 1, Kind: domain.EventEmployeeJoined},
	} {
		check(filter, func() error {
			_, err := watched.Deliveries(t.Context(), f.c.Company.ID, filter, nil, 50)
			return err
		})
	}
	for _, filter := range []domain.AuditFilter{{}, {Action: "employee."}, {Actor: domain.ActorOperator}, {Search: "7"}} {
		check(filter, func() error {
			_, err := watched.AuditEntries(t.Context(), f.c.Company.ID, filter, domain.PageRequest{Limit: 50})
			return err
		})
	}
}

// The text of a search does not depend on how many records it finds: each text is
// prepared once on every connection.
func TestSearchOfTheLogIsOneStatement(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		watched, r := recordStatements(s)
		f := newTestCompany(t, s)
		exam := f.addAssessment()
		f.provisionAll("E1", "E2")
		f.assign("A1", "E1", exam)
		for _, id := range numbered("B%d", 0, 7) {
			f.assign(id, "E2", exam)
		}
		search := func(text string) string {
			items := r.during(t, func() error {
				page, err := watched.AuditEntries(t.Context(), f.c.Company.ID, domain.AuditFilter{Search: text}, domain.PageRequest{Limit: 50})
				if err == nil && len(page.Items) < 2 {
					t.Errorf("%s: found %d entries", text, len(page.Items))
				}
				return err
			})
			return items[len(items)-1].SQL
		}
		equal(t, "the statement for another number of records", search("E2"), search("E1"))
	})
}
