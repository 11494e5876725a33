package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// foldBatchSize is how many changes one transaction adds to the totals.
const foldBatchSize = 5000

type totalKey struct {
	kind   string
	number int64
	text   string
}

type totalRow struct {
	totalKey
	n int64
}

// FoldTotals first counts the companies that have no totals yet because an older program
// created them; processes that do so at once repeat one another's work, which is
// harmless. It then adds pending changes to the totals, except of companies whose totals
// another process has locked. A company for which that fails holds up no other; the
// errors are returned together.
func (s *Store) FoldTotals(ctx context.Context) error {
	var pending, uncounted []int64
	b := &db.Batch{}
	b.Query(appendColumn(&pending), `SELECT DISTINCT company_id FROM total_changes`)
	b.Query(appendColumn(&uncounted), `SELECT c.id FROM companies c LEFT JOIN total_companies t ON t.company_id = c.id
		WHERE t.kept_at IS NULL OR t.figures_kept_at IS NULL ORDER BY c.id`)
	if err := s.read(ctx, b); err != nil {
		return err
	}
	var errs []error
	for _, company := range uncounted {
		if err := s.RepairTotals(ctx, company); err != nil {
			errs = append(errs, fmt.Errorf("count the totals of company %d: %w", company, err))
		}
	}
	for _, company := range pending {
		if err := s.foldPending(ctx, company); err != nil {
			errs = append(errs, fmt.Errorf("fold the totals of company %d: %w", company, err))
		}
	}
	return errors.Join(errs...)
}

// foldPending adds all pending changes of a company to its totals.
func (s *Store) foldPending(ctx context.Context, company int64) error {
	for {
		if n, err := s.foldCompany(ctx, company); err != nil || n < foldBatchSize {
			return err
		}
	}
}

// foldCompany adds up to foldBatchSize changes of a company to its totals and returns
// how many it added. It returns 0 if another process has locked the totals or they are
// not complete.
func (s *Store) foldCompany(ctx context.Context, company int64) (int, error) {
	folded := 0
	err := s.write(ctx, func(tx db.Tx, _ *outbox) error {
		locked := false
		b := &db.Batch{}
		b.Query(func(db.Rows) error { locked = true; return nil },
			`SELECT 1 FROM total_companies t WHERE t.company_id = $1 AND t.kept_at IS NOT NULL`+s.db.ForUpdate("t")+s.db.SkipLocked(), company)
		if err := tx.Send(ctx, b); err != nil || !locked {
			folded = 0
			return err
		}
		var err error
		folded, err = s.fold(ctx, tx, company)
		return err
	})
	return folded, err
}

// fold adds up to foldBatchSize changes to the totals. The transaction has locked the
// company's row of total_companies: without that nobody changes totals, while changes
// may always be appended.
func (s *Store) fold(ctx context.Context, tx db.Tx, company int64) (int, error) {
	var ids []int64
	sums := map[totalKey]int64{}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var id int64
		var row totalRow
		err := r.Scan(&id, &row.kind, &row.number, &row.text, &row.n)
		ids = append(ids, id)
		sums[row.totalKey] += row.n
		return err
	}, `SELECT id, kind, number_key, text_key, n FROM total_changes WHERE company_id = $1 ORDER BY id LIMIT $2`, company, foldBatchSize)
	if err := tx.Send(ctx, b); err != nil || len(ids) == 0 {
		return 0, err
	}
	isFolded, folded := s.db.In("id", 2, db.Ints("id", ids))
	b = &db.Batch{}
	b.Exec(`DELETE FROM total_changes WHERE company_id = $1 AND `+isFolded, company, folded)
	if err := tx.Send(ctx, b); err != nil {
		return 0, err
	}
	return len(ids), s.addToTotals(ctx, tx, company, withLevels(sums))
}

// withLevels returns the sums that are not 0, and those of the coarser levels of
// totalUpdated.
func withLevels(sums map[totalKey]int64) []totalRow {
	all := map[totalKey]int64{}
	for key, n := range sums {
		all[key] += n
		if key.kind != totalUpdated {
			continue
		}
		for _, level := range updatedLevels[1:] {
			all[totalKey{kind: level.kind, number: key.number / level.seconds * level.seconds}] += n
		}
	}
	var out []totalRow
	for key, n := range all {
		if n != 0 {
			out = append(out, totalRow{key, n})
		}
	}
	return out
}

// addToTotals adds to totals that the transaction has locked, and deletes those that
// have become 0: the tag of an erased person must not stay.
func (s *Store) addToTotals(ctx context.Context, tx db.Tx, company int64, rows []totalRow) error {
	if len(rows) == 0 {
		return nil
	}
	slices.SortFunc(rows, func(x, y totalRow) int {
		return cmp.Or(cmp.Compare(x.kind, y.kind), cmp.Compare(x.number, y.number), cmp.Compare(x.text, y.text))
	})
	var empty []totalRow
	table, args := s.db.ValuesTable(2, append(totalKeys(rows), db.Columns(rows, db.IntColumn("n", func(t *totalRow) int64 { return t.n }))...)...)
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var row totalRow
		if err := r.Scan(&row.kind, &row.number, &row.text, &row.n); err != nil {
			return err
		}
		if row.n == 0 {
			empty = append(empty, row)
		}
		return nil
	}, `INSERT INTO totals (company_id, kind, number_key, text_key, n)
		SELECT $1, r.kind, r.number_key, r.text_key, r.n FROM `+table+` r WHERE true
		ON CONFLICT (company_id, kind, number_key, text_key) DO UPDATE SET n = totals.n + excluded.n
		RETURNING kind, number_key, text_key, n`, append([]any{company}, args...)...)
	if err := tx.Send(ctx, b); err != nil || len(empty) == 0 {
		return err
	}
	table, args = s.db.ValuesTable(2, totalKeys(empty)...)
	_, err := tx.Exec(ctx, `DELETE FROM totals WHERE company_id = $1 AND (kind, number_key, text_key) IN
		(SELECT r.kind, r.number_key, r.text_key FROM `+table+` r)`, append([]any{company}, args...)...)
	return err
}

func totalKeys(rows []totalRow) []db.Column {
	return db.Columns(rows,
		db.TextColumn("kind", func(t *totalRow) string { return t.kind }),
		db.IntColumn("number_key", func(t *totalRow) int64 { return t.number }),
		db.TextColumn("text_key", func(t *totalRow) string { return t.text }))
}

// foldErased folds all changes of a company, so that nothing is left of the tags that
// people had whom the transaction has erased.
func (s *Store) foldErased(ctx context.Context, tx db.Tx, company int64) error {
	var completeSince *time.Time
	b := &db.Batch{}
	b.Exec(`INSERT INTO total_companies (company_id) VALUES ($1) ON CONFLICT (company_id) DO NOTHING`, company)
	b.Query(func(r db.Rows) error { return r.Scan(&completeSince) },
		`SELECT t.kept_at FROM total_companies t WHERE t.company_id = $1`+s.db.ForUpdate("t"), company)
	if err := tx.Send(ctx, b); err != nil {
		return err
	}
	if completeSince == nil {
		// Nothing can be folded yet. Only changes of totalEmployees contain tags. They can be
		// deleted, because RepairTotals counts all employees in the transaction that sets kept_at.
		_, err := tx.Exec(ctx, `DELETE FROM total_changes WHERE company_id = $1 AND kind = '`+totalEmployees+`'`, company)
		return err
	}
	for {
		if n, err := s.fold(ctx, tx, company); err != nil || n < foldBatchSize {
			return err
		}
	}
}
