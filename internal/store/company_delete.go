package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// deleteStep is how many rows one transaction of DeleteCompany removes.
const deleteStep = 500

// companyTablesSQL selects the tables with a column company_id and their primary keys.
var companyTablesSQL = map[string]string{
	"sqlite": `SELECT m.name, coalesce((SELECT group_concat(k.name) FROM pragma_table_info(m.name) k WHERE k.pk > 0), 'rowid')
		FROM sqlite_master m WHERE m.type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) i WHERE i.name = 'company_id')
		ORDER BY m.name`,
	"postgres": `SELECT c.relname::text, (SELECT string_agg(a.attname::text, ',') FROM pg_index i
				JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
				WHERE i.indrelid = c.oid AND i.indisprimary)
		FROM pg_class c JOIN pg_attribute o ON o.attrelid = c.oid AND o.attname = 'company_id' AND NOT o.attisdropped
		WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace ORDER BY 1`,
}

// referencedTables are emptied after the others, in this order, because rows of others
// refer to theirs.
var referencedTables = []string{"jobs", "assignments", "employees"}

type companyTable struct{ name, key string }

// companyTables returns the tables that hold rows of companies, referenced ones last.
func (s *Store) companyTables(ctx context.Context) ([]companyTable, error) {
	var tables []companyTable
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var t companyTable
		err := r.Scan(&t.name, &t.key)
		tables = append(tables, t)
		return err
	}, companyTablesSQL[s.db.Name()])
	err := s.read(ctx, b)
	slices.SortStableFunc(tables, func(a, b companyTable) int {
		return slices.Index(referencedTables, a.name) - slices.Index(referencedTables, b.name)
	})
	return tables, err
}

// CountCompanyRows returns how many rows of each table belong to a company.
func (s *Store) CountCompanyRows(ctx context.Context, company int64) (map[string]int64, error) {
	tables, err := s.companyTables(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]int64{}
	b := &db.Batch{}
	for _, t := range tables {
		b.Query(func(r db.Rows) error {
			var n int64
			err := r.Scan(&n)
			if n > 0 {
				out[t.name] = n
			}
			return err
		}, `SELECT count(*) FROM `+t.name+` WHERE company_id = $1`, company)
	}
	err = mapUnavailable(s.db.Snapshot(ctx, func(c db.Conn) error { return c.Send(ctx, b) }))
	return out, err
}

// DeleteCompany removes a company that is suspended, with all its rows, in short
// transactions. After an interruption it can be called again. Codes: company_not_found.
func (s *Store) DeleteCompany(ctx context.Context, by domain.Actor, id int64) error {
	tables, err := s.companyTables(ctx)
	if err != nil {
		return err
	}
	for again := true; again; { // deleting rows may write others, such as changes of totals
		again = false
		for _, t := range tables {
			n, err := s.emptyTable(ctx, t, id)
			if err != nil {
				return fmt.Errorf("delete from %s: %w", t.name, err)
			}
			again = again || n > 0
		}
	}
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		if err := tx.Send(ctx, &db.Batch{}); err != nil {
			return err
		}
		b := &db.Batch{}
		b.Exec(`DELETE FROM sign_in_links WHERE for_company_id = $1`, id)
		b.Exec(`DELETE FROM course_renames WHERE course_id IN (SELECT c.id FROM courses c WHERE c.owner_company_id = $1)`, id)
		b.Exec(`DELETE FROM course_modules WHERE course_id IN (SELECT c.id FROM courses c WHERE c.owner_company_id = $1)`, id)
		b.Exec(`DELETE FROM courses WHERE owner_company_id = $1 AND parent_id IS NOT NULL`, id)
		b.Exec(`DELETE FROM courses WHERE owner_company_id = $1`, id)
		for _, table := range []string{"totals", "total_changes", "total_companies"} { // a server may have written to them
			b.Exec(`DELETE FROM `+table+` WHERE company_id = $1`, id)
		}
		b.Exec(`DELETE FROM companies WHERE id = $1`, id)
		auditPlatform(b, tx.Now(), platformEntry(by, "company.deleted", "company", id))
		box.bumpVersion(b, domain.CacheTokens)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		return s.sweepIdentities(ctx, tx)
	})
}

// emptyTable removes a company's rows from one table.
func (s *Store) emptyTable(ctx context.Context, t companyTable, company int64) (removed int64, err error) {
	for {
		var n int64
		switch t.name {
		case "employees":
			n, err = s.deleteEmployees(ctx, company)
		case "assignments":
			n, err = s.deleteAssignments(ctx, company)
		default:
			n, err = s.execStep(ctx, `DELETE FROM `+t.name+` WHERE company_id = $1 AND (`+t.key+`) IN
				(SELECT `+t.key+` FROM `+t.name+` WHERE company_id = $1 LIMIT $2)`, company, deleteStep)
		}
		removed += n
		if err != nil || n == 0 {
			return removed, err
		}
	}
}

// deleteAssignments removes some assignments, and the ids of activities about them.
func (s *Store) deleteAssignments(ctx context.Context, company int64) (n int64, err error) {
	const some = `SELECT a.id FROM assignments a WHERE a.company_id = $1 ORDER BY a.id LIMIT $2`
	err = s.write(ctx, func(tx db.Tx, _ *outbox) error {
		if _, err := tx.Exec(ctx, `DELETE FROM activities WHERE assignment_id IN (`+some+`)`, company, deleteStep); err != nil {
			return err
		}
		n, err = tx.Exec(ctx, `DELETE FROM assignments WHERE company_id = $1 AND id IN (`+some+`)`, company, deleteStep)
		return err
	})
	return n, err
}

// deleteEmployees removes some employees, and their accounts unless another company has
// the person too.
func (s *Store) deleteEmployees(ctx context.Context, company int64) (n int64, err error) {
	err = s.write(ctx, func(tx db.Tx, _ *outbox) error {
		var emails []string
		b := &db.Batch{}
		b.Query(appendColumn(&emails), `DELETE FROM employees WHERE company_id = $1 AND id IN
			(SELECT e.id FROM employees e WHERE e.company_id = $1 ORDER BY e.id LIMIT $2) RETURNING email_folded`, company, deleteStep)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		if n = int64(len(emails)); n == 0 {
			return nil
		}
		slices.Sort(emails)
		among, arg := s.db.In("email_folded", 1, db.Texts("email", emails))
		b = &db.Batch{}
		if suffix := s.db.ForUpdate("accounts"); suffix != "" { // see deleteOrphanAccount
			b.Query(ignoreRow, `SELECT 1 FROM accounts WHERE `+among+` ORDER BY email_folded`+suffix, arg)
		}
		b.Exec(`DELETE FROM accounts WHERE `+among+`
			AND NOT EXISTS (SELECT 1 FROM employees o WHERE o.email_folded = accounts.email_folded)`, arg)
		return tx.Send(ctx, b)
	})
	return n, err
}
