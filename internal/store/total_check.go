package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// totalSource describes how the totals of a kind are counted from the records, in
// ranges of keys, so that no statement counts millions of rows. RepairTotals uses a
// transaction per range, because a long writing transaction would hold back the
// watermark of sync; CheckTotals reads all ranges in one snapshot.
type totalSource struct {
	kinds     []string // the kind, and those that are derived from it
	width     int64    // how many keys are counted at a time
	byTime    bool     // keys are seconds, and the statements take instants too
	minKeySQL string   // the smallest key at or after $2 (byTime: at or after the instant $3) of the company $1
	countSQL  string   // the totals of the keys in [$2, $3) (byTime: of the instants in [$4, $5)) of the company $1
}

// minCourseSQL finds the smallest course of assignments, and liveOfCourses is the
// condition for live assignments of a range of courses.
const (
	minCourseSQL  = `SELECT min(a.course_id) AS k FROM assignments a WHERE a.company_id = $1 AND a.revoked_at IS NULL AND a.course_id >= $2`
	liveOfCourses = `a.company_id = $1 AND a.revoked_at IS NULL AND a.course_id >= $2 AND a.course_id < $3`
)

// totalSources are the sources of lists, except employeesSource, in the order in which
// they are checked. Their queries have the columns kind, number_key, text_key and n.
func (s *Store) totalSources() []totalSource {
	return []totalSource{
		{kinds: []string{totalByStatus}, width: 1, minKeySQL: minCourseSQL,
			countSQL: `SELECT '` + totalByStatus + `' AS kind, a.course_id AS number_key, a.status AS text_key, count(*) AS n FROM assignments a
				WHERE ` + liveOfCourses + ` GROUP BY a.course_id, a.status`},
		{kinds: []string{totalOverdue}, width: 1, minKeySQL: minCourseSQL,
			countSQL: `SELECT '` + totalOverdue + `' AS kind, a.course_id AS number_key, '' AS text_key, count(*) AS n FROM assignments a
				WHERE ` + liveOfCourses + ` AND a.overdue_at IS NOT NULL AND a.status <> 'completed' GROUP BY a.course_id`},
		s.updatedSource(),
	}
}

// employeesSource counts employees and their tags in one range.
func employeesSource() totalSource {
	return totalSource{kinds: []string{totalEmployees}, width: 1, minKeySQL: `SELECT CASE WHEN $2 = 0 THEN 0 END AS k`,
		countSQL: `SELECT '` + totalEmployees + `' AS kind, 0 AS number_key, '' AS text_key, count(*) AS n FROM employees e
			WHERE e.company_id = $1 AND e.left_at IS NULL
			UNION ALL SELECT '` + totalEmployees + `', 0, t.tag, count(*) FROM employee_tags t
			JOIN employees e ON e.company_id = t.company_id AND e.id = t.employee_id
			WHERE t.company_id = $1 AND e.left_at IS NULL GROUP BY t.tag`}
}

// updatedSource counts a day at a time, the longest period of updatedLevels.
func (s *Store) updatedSource() totalSource {
	day := updatedLevels[len(updatedLevels)-1].seconds
	out := totalSource{width: day, byTime: true}
	var levels []string
	for _, level := range updatedLevels {
		out.kinds = append(out.kinds, level.kind)
		levels = append(levels, fmt.Sprintf(`SELECT '%s' AS kind, u.seconds / %[2]d * %[2]d AS number_key, '' AS text_key, sum(u.n) AS n
			FROM u GROUP BY u.seconds / %[2]d`, level.kind, level.seconds))
	}
	out.minKeySQL = fmt.Sprintf(`SELECT %s / %d * %[2]d AS k FROM assignments a
		WHERE a.company_id = $1 AND a.revoked_at IS NULL AND a.updated_at >= $3`, s.db.EpochSeconds("min(a.updated_at)"), day)
	out.countSQL = fmt.Sprintf(`WITH u AS (SELECT %[1]s / 10 * 10 AS seconds, count(*) AS n FROM assignments a
		WHERE a.company_id = $1 AND a.revoked_at IS NULL AND a.updated_at >= $4 AND a.updated_at < $5 GROUP BY %[1]s / 10) %[2]s`,
		s.db.EpochSeconds("a.updated_at"), strings.Join(levels, " UNION ALL "))
	return out
}

// negatedTotalsSQL returns a query for what is kept of a source's kinds, negated, for the keys
// from $2 up to $3: the totals, with the changes that are not folded yet. The changes
// of the derived kinds are those of the first.
func (t totalSource) negatedTotalsSQL() string {
	const inRange = `number_key >= $2 AND number_key < $3`
	var parts []string
	for i, kind := range t.kinds {
		key := "number_key"
		if len(t.kinds) > 1 {
			key = fmt.Sprintf("number_key / %d * %[1]d", updatedLevels[i].seconds)
		}
		parts = append(parts, fmt.Sprintf(`SELECT kind, number_key, text_key, -n AS n FROM totals WHERE company_id = $1 AND kind = '%s' AND %s
			UNION ALL SELECT '%[1]s', %[3]s, text_key, -n FROM total_changes WHERE company_id = $1 AND kind = '%[4]s' AND %[2]s`,
			kind, inRange, key, t.kinds[0]))
	}
	return strings.Join(parts, " UNION ALL ")
}

// next returns the start of the first range at or after from in which something is
// counted or kept; ok is false if there is none.
func (t totalSource) next(ctx context.Context, conn db.Conn, company, from int64) (first int64, ok bool, err error) {
	args := []any{company, from}
	if t.byTime {
		args = append(args, time.Unix(from, 0).UTC())
	}
	least := int64(-1)
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&least) }, `SELECT coalesce(min(k), -1) FROM (`+t.minKeySQL+`
		UNION ALL SELECT min(number_key) FROM totals WHERE company_id = $1 AND kind IN ('`+strings.Join(t.kinds, "', '")+`') AND number_key >= $2
		UNION ALL SELECT min(number_key) FROM total_changes WHERE company_id = $1 AND kind = '`+t.kinds[0]+`' AND number_key >= $2) x`, args...)
	err = conn.Send(ctx, b)
	return least / t.width * t.width, least >= 0, err
}

// difference returns what must be added to the totals of the range of keys that
// begins with first. It is one statement, so in one snapshot.
func (t totalSource) difference(ctx context.Context, conn db.Conn, company, first int64) ([]totalRow, error) {
	args := []any{company, first, first + t.width}
	if t.byTime {
		args = append(args, time.Unix(first, 0).UTC(), time.Unix(first+t.width, 0).UTC())
	}
	var out []totalRow
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var row totalRow
		err := r.Scan(&row.kind, &row.number, &row.text, &row.n)
		out = append(out, row)
		return err
	}, `SELECT d.kind, d.number_key, d.text_key, CAST(sum(d.n) AS bigint) FROM (
		SELECT x.kind, x.number_key, x.text_key, x.n FROM (`+t.countSQL+`) x UNION ALL `+t.negatedTotalsSQL()+`) d
		GROUP BY d.kind, d.number_key, d.text_key HAVING sum(d.n) <> 0 ORDER BY 1, 2, 3`, args...)
	err := conn.Send(ctx, b)
	return out, err
}

// check returns the totals of all ranges that are wrong.
func (t totalSource) check(ctx context.Context, conn db.Conn, company int64) ([]domain.WrongTotal, error) {
	var out []domain.WrongTotal
	for from := int64(0); ; {
		first, ok, err := t.next(ctx, conn, company, from)
		if err != nil || !ok {
			return out, err
		}
		wrong, err := t.difference(ctx, conn, company, first)
		if err != nil {
			return out, err
		}
		for _, w := range wrong {
			out = append(out, domain.WrongTotal{Kind: w.kind, Number: w.number, Text: w.text, Missing: w.n})
		}
		from = first + t.width
	}
}

// CheckTotals compares a company's totals with what is counted and returns those
// that are wrong. Writers go on meanwhile. It returns none if the totals are not
// complete yet.
func (s *Store) CheckTotals(ctx context.Context, company int64) ([]domain.WrongTotal, error) {
	var out []domain.WrongTotal
	err := s.db.Snapshot(ctx, func(c db.Conn) error {
		out = nil
		var sources []totalSource
		b := &db.Batch{}
		b.Query(func(r db.Rows) error {
			figures := false
			err := r.Scan(&figures)
			if sources = append(s.totalSources(), employeesSource()); figures {
				sources = append(sources, s.figureSources()...)
			}
			return err
		}, `SELECT figures_kept_at IS NOT NULL FROM total_companies WHERE company_id = $1 AND kept_at IS NOT NULL`, company)
		if err := c.Send(ctx, b); err != nil {
			return err
		}
		for _, source := range sources {
			wrong, err := source.check(ctx, c, company)
			if err != nil {
				return err
			}
			out = append(out, wrong...)
		}
		return nil
	})
	return out, mapUnavailable(err)
}

// RepairTotals corrects the totals of a company, range by range while writers go on.
// It also counts those of a company that has none yet, and lets lists use them from
// then on.
func (s *Store) RepairTotals(ctx context.Context, company int64) error {
	err := s.write(ctx, func(tx db.Tx, _ *outbox) error {
		_, err := tx.Exec(ctx, `INSERT INTO total_companies (company_id) VALUES ($1) ON CONFLICT (company_id) DO NOTHING`, company)
		return err
	})
	if err != nil {
		return err
	}
	for _, source := range append(s.totalSources(), s.figureSources()...) {
		for from := int64(0); from >= 0; {
			if from, err = s.correctRange(ctx, company, source, from); err != nil {
				return err
			}
		}
	}
	// The employees come last, in the transaction that completes the totals: until then
	// foldErased deletes their changes.
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		if _, err := s.correctRangeTx(ctx, tx, company, employeesSource(), 0); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE total_companies SET kept_at = coalesce(kept_at, $2), figures_kept_at = coalesce(figures_kept_at, $2)
			WHERE company_id = $1 AND (kept_at IS NULL OR figures_kept_at IS NULL)`, company, tx.Now())
		return err
	})
}

// correctRange is correctRangeTx in a transaction of its own.
func (s *Store) correctRange(ctx context.Context, company int64, source totalSource, from int64) (next int64, err error) {
	err = s.write(ctx, func(tx db.Tx, _ *outbox) (err error) {
		next, err = s.correctRangeTx(ctx, tx, company, source, from)
		return err
	})
	return next, err
}

// correctRangeTx adds the difference to the totals of the next range of keys, and
// returns where the one after it may begin, -1 if there is none. The lock keeps others
// from changing totals; changes that are appended meanwhile are in neither side of
// the difference.
func (s *Store) correctRangeTx(ctx context.Context, tx db.Tx, company int64, source totalSource, from int64) (next int64, err error) {
	b := &db.Batch{}
	b.Query(ignoreRow, `SELECT 1 FROM total_companies t WHERE t.company_id = $1`+s.db.ForUpdate("t"), company)
	if err := tx.Send(ctx, b); err != nil {
		return -1, err
	}
	first, ok, err := source.next(ctx, tx, company, from)
	if err != nil || !ok {
		return -1, err
	}
	wrong, err := source.difference(ctx, tx, company, first)
	if err != nil {
		return -1, err
	}
	return first + source.width, s.addToTotals(ctx, tx, company, wrong)
}

// markTotalsComplete queues that the totals of a new company are complete.
func markTotalsComplete(b *db.Batch, tx db.Tx, company int64) {
	b.Exec(`INSERT INTO total_companies (company_id, kept_at, figures_kept_at) VALUES ($1, $2, $2)`, company, tx.Now())
}
