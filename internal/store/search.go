package store

import (
	"context"
	"strconv"
	"strings"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// A search reads from an index the range of values that begin with its text. Each
// range is bounded, so that a search for one letter costs no more than one for a
// whole name. Names are compared in folded columns that have the order of their
// bytes; identifiers and addresses as Dialect.Folded returns them.

// prefixRange returns the condition that an indexed expression begins with a prefix;
// it takes the arguments of prefixArgs.
func prefixRange(expression string) string { return expression + " >= ? AND " + expression + " < ?" }

func prefixArgs(prefix string) []any { return []any{prefix, domain.AfterPrefix(prefix)} }

// employeesFound returns a query for the ids of the employees, former ones too, whose
// name, family name, address or externalId begins with a text. Each ? stands for one
// of its arguments. It reads at most limit employees for each of the four.
func (s *Store) employeesFound(company int64, text string, limit int) (string, []any) {
	parts, args := s.employeeMatches(company, text, limit)
	return strings.Join(parts, ` UNION `), args
}

// queryCapped queues the question whether a search for employees finds as many as it
// looks for, so that there may be more.
func (s *Store) queryCapped(b *db.Batch, company int64, text string, capped *bool) {
	parts, args := s.employeeMatches(company, text, domain.MaxMatches)
	limitedQueries{parts, args, domain.MaxMatches}.queryFull(b, capped)
}

// limitedQueries are queries of one search that share a limit of rows. Each ? stands
// for one of their arguments.
type limitedQueries struct {
	parts []string
	args  []any
	limit int
}

// queryFull queues the question whether one of the queries returns as many rows as the
// limit.
func (q limitedQueries) queryFull(b *db.Batch, full *bool) {
	cond, counts := &conditions{}, make([]string, len(q.parts))
	for i, part := range q.parts {
		counts[i] = `(SELECT count(*) FROM (` + part + `) c) = ` + strconv.Itoa(q.limit)
	}
	cond.add(strings.Join(counts, ` OR `), q.args...)
	b.Query(func(r db.Rows) error { return r.Scan(full) }, `SELECT `+cond.parts[0], cond.args...)
}

// employeeMatches returns the four queries of employeesFound with their arguments.
func (s *Store) employeeMatches(company int64, text string, limit int) (parts []string, args []any) {
	name, id := domain.FoldName(text), domain.FoldID(text)
	for _, by := range []struct{ expression, prefix string }{
		{"x.name_folded", name},
		{"x.last_name_folded", name},
		{s.db.Folded("x.email_folded"), domain.FoldEmail(text)},
		{s.db.Folded("x.external_id"), id},
	} {
		parts = append(parts, `SELECT * FROM (SELECT x.id FROM employees x WHERE x.company_id = ? AND `+prefixRange(by.expression)+
			` ORDER BY x.company_id, `+by.expression+` LIMIT ?) m`)
		args = append(append(append(args, company), prefixArgs(by.prefix)...), limit)
	}
	return parts, args
}

// assignmentsFound returns a query for the assignments, revoked ones too, whose
// externalId begins with a text, as employeesFound does. Its columns are id and
// external_id.
func (s *Store) assignmentsFound(company int64, text string, limit int) (string, []any) {
	folded := s.db.Folded("a.external_id")
	return `SELECT * FROM (SELECT a.id, a.external_id FROM assignments a WHERE a.company_id = ? AND ` + prefixRange(folded) +
		` ORDER BY a.company_id, ` + folded + ` LIMIT ?) m`, append(append([]any{company}, prefixArgs(domain.FoldID(text))...), limit)
}

// foldStep is how many rows one transaction of FoldNames fills in.
const foldStep = 500

// FoldNames fills in the folded names of rows that an older program wrote. Several
// processes may call it at once.
func (s *Store) FoldNames(ctx context.Context) error {
	for _, table := range []string{"employees", "tokens"} {
		for {
			found, err := s.foldNames(ctx, table)
			if err != nil {
				return err
			}
			if found < foldStep {
				break
			}
		}
	}
	return nil
}

type foldedName struct {
	company, id int64
	name        string
}

// foldNames does one step and returns how many rows it found. A name that has
// changed since it was read was folded by who changed it, or is folded later.
func (s *Store) foldNames(ctx context.Context, table string) (int, error) {
	var found []foldedName
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var n foldedName
		err := r.Scan(&n.company, &n.id, &n.name)
		found = append(found, n)
		return err
	}, `SELECT company_id, id, name FROM `+table+` WHERE name_folded IS NULL ORDER BY company_id, id LIMIT $1`, foldStep)
	if err := s.read(ctx, b); err != nil || len(found) == 0 {
		return 0, err
	}
	rows, args := s.db.ValuesTable(1, db.Columns(found,
		db.IntColumn("company_id", func(n *foldedName) int64 { return n.company }),
		db.IntColumn("id", func(n *foldedName) int64 { return n.id }),
		db.TextColumn("name", func(n *foldedName) string { return n.name }),
		db.TextColumn("folded", func(n *foldedName) string { return domain.FoldName(n.name) }),
		db.TextColumn("last", func(n *foldedName) string { return domain.FoldLastName(n.name) }))...)
	set := `name_folded = r.folded`
	if table == "employees" {
		set += `, last_name_folded = r.last`
	}
	err := s.write(ctx, func(tx db.Tx, _ *outbox) error {
		_, err := tx.Exec(ctx, `UPDATE `+table+` SET `+set+` FROM `+rows+` r
			WHERE `+table+`.company_id = r.company_id AND `+table+`.id = r.id AND `+table+`.name = r.name`, args...)
		return err
	})
	return len(found), err
}
