package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

const (
	// MaxImportColumns is how many column headers are remembered for a company: those of
	// ten files with as many columns as a file may have.
	MaxImportColumns = 500
	// maxImportHead is the longest header that is remembered, in bytes: it is part of a
	// key, and PostgreSQL limits the size of an index entry.
	maxImportHead = 200
)

// ImportColumns returns what the company chose last for columns with these heads. Heads
// that it has never matched are not in the map.
func (s *Store) ImportColumns(ctx context.Context, company int64, heads []string) (map[string]domain.ImportField, error) {
	out := map[string]domain.ImportField{}
	keys, args := s.db.ValuesTable(1, db.Texts("head", heads))
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var head string
		var field domain.ImportField
		err := r.Scan(&head, &field)
		out[head] = field
		return err
	}, `SELECT c.head, c.field FROM `+keys+` k`+s.db.Join("import_columns", "c", `c.company_id = $2 AND c.head = k.head`), append(args, company)...)
	err := s.read(ctx, b)
	return out, err
}

// rememberColumns queues storing the field that was chosen for each column header. Beyond
// MaxImportColumns those that were chosen longest ago are deleted. The caller holds the
// lock of the company.
func (s *Store) rememberColumns(b *db.Batch, i domain.Import, now time.Time) {
	type column struct {
		head  string
		field domain.ImportField
	}
	var columns []column
	for n, head := range i.Header {
		if head != "" && len(head) <= maxImportHead && n < len(i.Fields) {
			columns = append(columns, column{head, i.Fields[n]})
		}
	}
	byHead := func(x, y column) int { return strings.Compare(x.head, y.head) }
	slices.SortStableFunc(columns, byHead)
	columns = slices.CompactFunc(columns, func(x, y column) bool { return x.head == y.head })
	if len(columns) == 0 {
		return
	}
	rows, args := s.db.ValuesTable(3, db.Columns(columns,
		db.TextColumn("head", func(c *column) string { return c.head }),
		db.TextColumn("field", func(c *column) domain.ImportField { return c.field }))...)
	b.Exec(`INSERT INTO import_columns (company_id, head, field, chosen_at) SELECT $1, r.head, r.field, $2 FROM `+rows+` r WHERE true
		ON CONFLICT (company_id, head) DO UPDATE SET field = excluded.field, chosen_at = excluded.chosen_at`,
		append([]any{i.CompanyID, now}, args...)...)
	b.Exec(`DELETE FROM import_columns WHERE company_id = $1 AND head NOT IN (SELECT c.head FROM import_columns c
		WHERE c.company_id = $1 ORDER BY c.chosen_at DESC, c.head LIMIT $2)`, i.CompanyID, MaxImportColumns)
}
