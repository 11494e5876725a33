package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// Assignments of every status that are inserted together, within an announced range of
// ids and outside of it, are counted once each.
func TestAssignmentsInsertedTogetherAreCountedOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		courses := []int64{f.addAssessment(), f.addCourse(domain.Course{Name: "Course"})}
		f.workAtRandom("together", courses)
		company := f.c.Company.ID
		names, _ := columns(t, s, "assignments")
		copySQL := copyAssignmentsSQL(names)
		const announced, outside = 1_000_000, 2_000_000
		b := &db.Batch{}
		before, after := s.Engine().CountTogether()
		if before != "" {
			b.Exec(before, company, int64(announced), int64(outside-1))
		}
		b.Exec(copySQL, company, int64(announced), int64(announced))
		b.Exec(copySQL, company, int64(outside), int64(announced))
		if after != "" {
			b.Exec(after, company)
		}
		err := s.Engine().Write(t.Context(), func(tx db.Tx) error { return tx.Send(t.Context(), b) })
		if err != nil {
			t.Fatal(err)
		}
		f.wantTotals(courses...)
		f.fold()
		f.wantTotals(courses...)
	})
}

// copyAssignmentsSQL returns a statement that copies the assignments whose ids are below
// $3, with ids that are $2 higher.
func copyAssignmentsSQL(columns []string) string {
	into, from := "", ""
	for _, name := range columns {
		value := name
		switch name {
		case "id":
			value = "id + $2"
		case "external_id":
			value = "external_id || '-' || CAST(id + $2 AS text)"
		}
		into, from = into+", "+name, from+", "+value
	}
	return `INSERT INTO assignments (` + into[2:] + `) SELECT ` + from[2:] + ` FROM assignments WHERE company_id = $1 AND id < $3`
}

// brokenTotals is an engine on which the totals of one company can't be changed.
type brokenTotals struct {
	db.Engine
	company int64
}

func (e brokenTotals) Write(ctx context.Context, fn func(db.Tx) error) error {
	return e.Engine.Write(ctx, func(tx db.Tx) error { return fn(brokenTotalsTx{tx, e.company}) })
}

type brokenTotalsTx struct {
	db.Tx
	company int64
}

func (tx brokenTotalsTx) Send(ctx context.Context, b *db.Batch) error {
	for _, it := range b.Items {
		if strings.Contains(it.SQL, "total_companies") && slices.Contains(it.Args, any(tx.company)) {
			return errors.New("the totals of this company are broken")
		}
	}
	return tx.Tx.Send(ctx, b)
}

// A company whose totals can't be counted, or folded, does not stop the folding of others.
func TestBrokenTotalsStopNoOtherCompany(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		broken, sound := newTestCompany(t, s), newTestCompany(t, s)
		wantPending := func(what string, f testCompany, isPending bool) {
			t.Helper()
			if n := number(t, s, `SELECT count(*) FROM total_changes WHERE company_id = $1`, f.c.Company.ID); n > 0 != isPending {
				t.Errorf("%s: %d changes are pending; want any: %t", what, n, isPending)
			}
		}
		for _, uncounted := range []bool{true, false} {
			for _, f := range []testCompany{broken, sound} {
				f.provisionAll(fmt.Sprintf("E%t", uncounted))
				wantPending("before", f, true)
			}
			if uncounted {
				change(t, s, `UPDATE total_companies SET kept_at = NULL WHERE company_id = $1`, broken.c.Company.ID)
			} else {
				change(t, s, `UPDATE total_companies SET kept_at = $1 WHERE company_id = $2`, s.Now(), broken.c.Company.ID)
			}
			if err := store.New(brokenTotals{s.Engine(), broken.c.Company.ID}).FoldTotals(t.Context()); err == nil {
				t.Error("the folding reports no error")
			}
			wantPending("the broken company", broken, true)
			wantPending("the sound company", sound, false)
		}
	})
}
