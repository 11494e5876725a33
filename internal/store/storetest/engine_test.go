package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// A driver that binds by order of appearance would swap these silently.
func TestPlaceholdersAreBoundByNumber(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		got := texts(t, s, `SELECT CAST($3 AS text) || CAST($1 AS text) || CAST($2 AS text) || CAST($1 AS text)`, "a", "b", "c")
		equal(t, "$3 $1 $2 $1", got, []string{"caba"})
		change(t, s, `INSERT INTO settings (value, key) VALUES ($2, $1)`, "key", []byte("value"))
		change(t, s, `UPDATE settings SET value = $2 WHERE key = $1`, "key", []byte("other"))
		equal(t, "settings", texts(t, s, `SELECT key FROM settings WHERE value = $2 AND key = $1`, "key", []byte("other")), []string{"key"})
	})
}

func TestInstantsSurvive(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		instants := []time.Time{
			time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 999e6, time.UTC), time.UnixMilli(0).UTC(),
			time.Date(2026, 3, 29, 1, 30, 0, 1e6, time.UTC), s.Now(), time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC),
		}
		for i, at := range instants {
			elsewhere := at.In(time.FixedZone("", -(3*60*60 + 30*60)))
			change(t, s, `INSERT INTO leases (name, owner, until) VALUES ($1, '', $2)`, fmt.Sprintf("l%d", i), elsewhere)
		}
		got := column[time.Time](t, s, `SELECT until FROM leases ORDER BY name`)
		optional := column[*time.Time](t, s, `SELECT until FROM leases ORDER BY name`)
		for i, at := range instants {
			if got[i] != at || *optional[i] != at {
				t.Errorf("%v came back as %v and %v", at, got[i], *optional[i])
			}
		}
		if none := column[*time.Time](t, s, `SELECT suspended_at FROM companies`); len(none) != 0 {
			t.Error("a read of no rows returned some")
		}
		newTestCompany(t, s)
		equal(t, "an instant that is not there", column[*time.Time](t, s, `SELECT suspended_at FROM companies`), []*time.Time{nil})
	})
}

// typedRow is a row with a value of every type that ValuesTable takes.
type typedRow struct {
	N     int64
	Maybe *int64
	Text  string
	Flag  bool
	At    time.Time
	Late  *time.Time
	Raw   []byte
	UUID  string
}

func TestValuesTableCarriesEveryType(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 14, 9, 30, 0, 123e6, time.UTC)
	want := []typedRow{
		{1, ptr(int64(-5)), `quo"te ' \ back`, true, at, &at, []byte{0, 255, '"'}, "0199f3a0-0000-7000-8000-000000000001"},
		{1 << 62, nil, "line\n\ttab <&> \u2028 ё 👩‍🚀", false, at.Add(time.Hour), nil, []byte{}, "0199f3a0-0000-7000-8000-000000000002"},
		{3, ptr(int64(0)), "", true, at.Add(2 * time.Hour), nil, []byte("123"), "0199f3a0-0000-7000-8000-000000000003"},
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		equal(t, "rows", readBack(t, s, want), want)
		equal(t, "no rows", readBack(t, s, nil), nil)
	})
}

func readBack(t *testing.T, s *store.Store, in []typedRow) (out []typedRow) {
	t.Helper()
	table, args := s.Engine().ValuesTable(2, db.Columns(in,
		db.IntColumn("n", func(r *typedRow) int64 { return r.N }),
		db.OptionalIntColumn("maybe", func(r *typedRow) *int64 { return r.Maybe }),
		db.TextColumn("words", func(r *typedRow) string { return r.Text }),
		db.BoolColumn("flag", func(r *typedRow) bool { return r.Flag }),
		db.TimeColumn("at_time", func(r *typedRow) time.Time { return r.At }),
		db.OptionalTimeColumn("late", func(r *typedRow) *time.Time { return r.Late }),
		db.BytesColumn("raw", func(r *typedRow) []byte { return r.Raw }),
		db.UUIDColumn("uid", func(r *typedRow) string { return r.UUID }))...)
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var v typedRow
		err := r.Scan(&v.N, &v.Maybe, &v.Text, &v.Flag, &v.At, &v.Late, &v.Raw, &v.UUID)
		v.Raw = append([]byte{}, v.Raw...) // an empty value may be read as nil
		out = append(out, v)
		return err
	}, `SELECT n, maybe, words, flag, at_time, late, raw, CAST(uid AS text) FROM `+table+` r WHERE CAST($1 AS integer) = 7 ORDER BY at_time`, append([]any{7}, args...)...)
	if err := s.Engine().Read(t.Context(), func(c db.Conn) error { return c.Send(t.Context(), b) }); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWriteRunsAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		change(t, s, `INSERT INTO settings (key, value) VALUES ('taken', $1)`, []byte{})
		for name, fail := range map[string]func(tx db.Tx) error{
			"for want of serialization": func(db.Tx) error { return db.ErrRetry },
			"after a taken key": func(tx db.Tx) error {
				_, err := tx.Exec(t.Context(), `INSERT INTO settings (key, value) VALUES ('taken', $1)`, []byte{})
				if !errors.Is(err, db.ErrUnique) {
					t.Errorf("insert a key that exists: %v", err)
				}
				return err
			},
			"after a broken reference": func(tx db.Tx) error {
				_, err := tx.Exec(t.Context(), `INSERT INTO course_grants (company_id, course_id, granted_at) VALUES (0, 0, $1)`, s.Now())
				return err
			},
		} {
			runs := 0
			err := s.Engine().Write(t.Context(), func(tx db.Tx) error {
				runs++
				if _, err := tx.Exec(t.Context(), `INSERT INTO settings (key, value) VALUES ($1, $2)`, name, []byte{}); err != nil {
					return err
				}
				if runs < 3 {
					return fail(tx)
				}
				return nil
			})
			if err != nil || runs != 3 {
				t.Errorf("%s: the function ran %d times and returned %v", name, runs, err)
			}
		}
		equal(t, "rows", number(t, s, `SELECT count(*) FROM settings`), 4)
	})
}

func TestFailedWriteLeavesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		oops := errors.New("oops")
		write := func(end func() error) error {
			return s.Engine().Write(t.Context(), func(tx db.Tx) error {
				if _, err := tx.Exec(t.Context(), `INSERT INTO settings (key, value) VALUES ('k', $1)`, []byte{}); err != nil {
					return err
				}
				last := &db.Batch{}
				last.Exec(`INSERT INTO settings (key, value) VALUES ('last', $1)`, []byte{})
				tx.SendAndCommit(last)
				return end()
			})
		}
		if err := write(func() error { return oops }); !errors.Is(err, oops) {
			t.Errorf("the error does not wrap the reason: %v", err)
		}
		func() {
			defer func() { equal(t, "recovered", fmt.Sprint(recover()), "boom") }()
			_ = write(func() error { panic("boom") })
		}()
		equal(t, "rows", number(t, s, `SELECT count(*) FROM settings`), 0)
		if err := write(func() error { return nil }); err != nil {
			t.Error("the next transaction:", err)
		}
		equal(t, "rows", number(t, s, `SELECT count(*) FROM settings`), 2)
	})
}

// unavailableEngine is an engine whose database can't be reached.
type unavailableEngine struct{ db.Engine }

var errDown = fmt.Errorf("%w: connection refused", db.ErrUnavailable)

func (unavailableEngine) Write(context.Context, func(db.Tx) error) error  { return errDown }
func (unavailableEngine) Read(context.Context, func(db.Conn) error) error { return errDown }
func (unavailableEngine) Watermark(context.Context) (time.Time, error)    { return time.Time{}, errDown }

func TestUnavailable(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s).with(store.New(unavailableEngine{s.Engine()}))
		ctx, company := t.Context(), f.c.Company.ID
		for name, call := range map[string]func() error{
			"provision": func() error { _, _, err := f.provision("E1", "e1@x.test"); return err },
			"patch":     func() error { _, err := f.patch("E1", domain.EmployeePatch{}); return err },
			"erase":     func() error { return f.erase("E1") },
			"employee":  func() error { _, _, err := f.s.Employee(ctx, company, "E1"); return err },
			"courses":   func() error { _, _, err := f.s.Courses(ctx, company); return err },
			"assign":    func() error { _, err := f.tryAssign(domain.NewAssignment{}); return err },
			"sweep":     func() error { _, err := f.s.MarkOverdue(ctx, 1); return err },
			"changes": func() error {
				_, err := f.s.Assignments(ctx, company, domain.AssignmentFilter{UpdatedSince: ptr(s.Now())}, firstTen)
				return err
			},
		} {
			err := call()
			wantCode(t, name, err, domain.CodeUnavailable)
			if !errors.Is(err, errDown) {
				t.Errorf("%s: the error does not wrap its cause", name)
			}
		}
	})
}

// Two batches that are sent with the commit are both done, in their order.
func TestSendAndCommitTwice(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		err := s.Engine().Write(t.Context(), func(tx db.Tx) error {
			for _, key := range []string{"one", "two"} {
				b := &db.Batch{}
				b.Exec(`INSERT INTO settings (key, value) VALUES ($1, $2)`, key, []byte{})
				tx.SendAndCommit(b)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "rows", number(t, s, `SELECT count(*) FROM settings WHERE key IN ('one', 'two')`), 2)
	})
}
