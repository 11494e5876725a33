package store

import (
	"context"
	"fmt"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// countedTotals are statements that count what the totals of each kind should be,
// with the columns kind, number_key, text_key and n, for the company $1. A kind is
// counted by one statement, so in one snapshot.
func (s *Store) countedTotals() map[string]string {
	seconds := s.db.EpochSeconds("a.updated_at")
	updated := ""
	for i, level := range updatedLevels {
		if i > 0 {
			updated += " UNION ALL "
		}
		updated += fmt.Sprintf(`SELECT '%s' AS kind, u.seconds / %[2]d * %[2]d AS number_key, '' AS text_key, sum(u.n) AS n
			FROM u GROUP BY u.seconds / %[2]d`, level.kind, level.seconds)
	}
	return map[string]string{
		totalByStatus: `SELECT '` + totalByStatus + `' AS kind, a.course_id AS number_key, a.status AS text_key, count(*) AS n
			FROM assignments a WHERE a.company_id = $1 AND a.revoked_at IS NULL GROUP BY a.course_id, a.status`,
		totalOverdue: `SELECT '` + totalOverdue + `' AS kind, a.course_id AS number_key, '' AS text_key, count(*) AS n FROM assignments a
			WHERE a.company_id = $1 AND a.revoked_at IS NULL AND a.overdue_at IS NOT NULL AND a.status <> 'completed' GROUP BY a.course_id`,
		totalUpdated: fmt.Sprintf(`WITH u AS (SELECT %[1]s / 10 * 10 AS seconds, count(*) AS n FROM assignments a
			WHERE a.company_id = $1 AND a.revoked_at IS NULL GROUP BY %[1]s / 10) %[2]s`, seconds, updated),
		totalEmployees: `SELECT '` + totalEmployees + `' AS kind, 0 AS number_key, '' AS text_key, count(*) AS n FROM employees e
			WHERE e.company_id = $1 AND e.left_at IS NULL
			UNION ALL SELECT '` + totalEmployees + `', 0, t.tag, count(*) FROM employee_tags t
			JOIN employees e ON e.company_id = t.company_id AND e.id = t.employee_id
			WHERE t.company_id = $1 AND e.left_at IS NULL GROUP BY t.tag`,
	}
}

// totalKinds is the order in which kinds are checked.
var totalKinds = []string{totalByStatus, totalOverdue, totalUpdated, totalEmployees}

// differenceSQL returns a statement for the difference between what is counted and
// what is kept of a kind: the totals, with the changes that are not folded yet.
func (s *Store) differenceSQL(kind string) string {
	kept := `SELECT t.kind, t.number_key, t.text_key, -t.n FROM totals t WHERE t.company_id = $1 AND t.kind = '` + kind + `'
		UNION ALL SELECT c.kind, c.number_key, c.text_key, -c.n FROM total_changes c WHERE c.company_id = $1 AND c.kind = '` + kind + `'`
	if kind == totalUpdated {
		for _, level := range updatedLevels[1:] {
			kept += fmt.Sprintf(` UNION ALL SELECT t.kind, t.number_key, t.text_key, -t.n FROM totals t WHERE t.company_id = $1 AND t.kind = '%[1]s'
				UNION ALL SELECT '%[1]s', c.number_key / %[2]d * %[2]d, '', -c.n FROM total_changes c
				WHERE c.company_id = $1 AND c.kind = '%[3]s'`, level.kind, level.seconds, totalUpdated)
		}
	}
	return `SELECT d.kind, d.number_key, d.text_key, CAST(sum(d.n) AS bigint) FROM (
		SELECT x.kind, x.number_key, x.text_key, x.n FROM (` + s.countedTotals()[kind] + `) x UNION ALL ` + kept + `) d
		GROUP BY d.kind, d.number_key, d.text_key HAVING sum(d.n) <> 0 ORDER BY 1, 2, 3`
}

func (s *Store) queueDifference(b *db.Batch, company int64, kind string, into *[]totalRow) {
	*into = nil
	b.Query(func(r db.Rows) error {
		var row totalRow
		err := r.Scan(&row.kind, &row.number, &row.text, &row.n)
		*into = append(*into, row)
		return err
	}, s.differenceSQL(kind), company)
}

// CheckTotals compares a company's totals with what is counted and returns those
// that are wrong. Writers go on meanwhile. A company whose totals are not complete
// yet has no wrong ones.
func (s *Store) CheckTotals(ctx context.Context, company int64) ([]domain.WrongTotal, error) {
	var out []domain.WrongTotal
	err := s.db.Snapshot(ctx, func(c db.Conn) error {
		out = nil
		kept := false
		b := &db.Batch{}
		b.Query(func(db.Rows) error { kept = true; return nil },
			`SELECT 1 FROM total_companies WHERE company_id = $1 AND kept_at IS NOT NULL`, company)
		if err := c.Send(ctx, b); err != nil || !kept {
			return err
		}
		for _, kind := range totalKinds {
			var wrong []totalRow
			b := &db.Batch{}
			s.queueDifference(b, company, kind, &wrong)
			if err := c.Send(ctx, b); err != nil {
				return err
			}
			for _, w := range wrong {
				out = append(out, domain.WrongTotal{Kind: w.kind, Number: w.number, Text: w.text, Missing: w.n})
			}
		}
		return nil
	})
	return out, mapUnavailable(err)
}

// RepairTotals corrects the totals of a company, kind by kind while writers go on.
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
	for _, kind := range totalKinds {
		if err := s.correctTotals(ctx, company, kind); err != nil {
			return err
		}
	}
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		if err := tx.Send(ctx, nil); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE total_companies SET kept_at = $2 WHERE company_id = $1 AND kept_at IS NULL`, company, tx.Now())
		return err
	})
}

// correctTotals adds the difference to the totals of a kind. The lock keeps others
// from changing totals; changes that are appended meanwhile are in neither side of
// the difference.
func (s *Store) correctTotals(ctx context.Context, company int64, kind string) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		var wrong []totalRow
		b := &db.Batch{}
		b.Query(ignoreRow, `SELECT 1 FROM total_companies t WHERE t.company_id = $1`+s.db.ForUpdate("t"), company)
		s.queueDifference(b, company, kind, &wrong)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		return s.addToTotals(ctx, tx, company, wrong)
	})
}

// keepTotals queues that the totals of a new company are complete.
func keepTotals(b *db.Batch, tx db.Tx, company int64) {
	b.Exec(`INSERT INTO total_companies (company_id, kept_at) VALUES ($1, $2)`, company, tx.Now())
}
