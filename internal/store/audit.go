package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// auditColumns are the columns of an audit entry. An entry stores the ids of people;
// these columns show an employee by the current name and an administrator by the
// current address, or by the last one if the administrator was removed. People who
// were erased are shown as domain.ErasedEmployee or domain.FormerAdministrator.
const auditColumns = `e.company_id, e.id, e.at, e.actor_kind, e.actor_id,
	CASE WHEN e.actor_kind = 'person' THEN coalesce(p.email,
		(SELECT f.email FROM former_administrators f WHERE f.administrator_id = e.actor_id), '` + domain.FormerAdministrator + `') ELSE e.actor_label END, e.action,
	e.record_kind, e.record_id, e.employee_id, e.request_id, e.address, e.detail,
	CASE WHEN e.employee_id = 0 THEN '' ELSE coalesce(emp.name, '` + domain.ErasedEmployee + `') END,
	CASE WHEN e.record_kind = 'administrator' THEN coalesce(r.email,
		(SELECT f.email FROM former_administrators f WHERE f.administrator_id = CAST(e.record_id AS bigint)), '` + domain.FormerAdministrator + `') ELSE '' END`

// auditJoins joins the people that auditColumns shows: emp is the employee, p the acting
// administrator, r the administrator that the entry is about.
const auditJoins = `
	LEFT JOIN employees emp ON emp.company_id = e.company_id AND emp.id = e.employee_id
	LEFT JOIN administrators p ON e.actor_kind = 'person' AND p.id = e.actor_id
	LEFT JOIN administrators r ON r.id = CASE WHEN e.record_kind = 'administrator' THEN CAST(e.record_id AS bigint) END`

// auditDest returns the scan destinations of auditColumns.
func auditDest(e *domain.AuditEntry) []any {
	return []any{&e.CompanyID, &e.ID, &e.At, &e.Actor.Kind, &e.Actor.ID, &e.Actor.Label, &e.Action, &e.RecordKind, &e.RecordID,
		&e.EmployeeID, &e.Actor.RequestID, &e.Actor.Address, &e.Detail, &e.EmployeeLabel, &e.RecordLabel}
}

// auditConditions returns the conditions of a filter except its search. An action
// matches all actions that start with it. The company is always argument $1.
func auditConditions(company int64, f domain.AuditFilter) *conditions {
	where := &conditions{}
	where.add("e.company_id = ?", company)
	if f.Action != "" {
		where.add(`e.action LIKE ? ESCAPE '!'`, strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(f.Action)+"%")
	}
	if f.Actor != "" {
		where.add("e.actor_kind = ?", string(f.Actor))
	}
	if f.From != nil {
		where.add("e.at >= ?", *f.From)
	}
	if f.To != nil {
		where.add("e.at < ?", *f.To)
	}
	return where
}

const auditOrder = ` ORDER BY e.at DESC, e.id DESC`

// AuditEntries returns a page of a company's log, the newest entry first. The log may
// be long, so pages are reached only by cursor, and the total is not counted.
func (s *Store) AuditEntries(ctx context.Context, company int64, f domain.AuditFilter, p domain.PageRequest) (domain.Page[domain.AuditEntry], error) {
	out := domain.Page[domain.AuditEntry]{Items: []domain.AuditEntry{}}
	err := s.db.Read(ctx, func(c db.Conn) error {
		scans, capped, err := s.auditScans(ctx, c, company, f)
		out.Capped = capped
		if err != nil || len(scans) == 0 {
			return err
		}
		where := auditConditions(company, f)
		if p.After != nil {
			where.add("(e.at, e.id) < (?, ?)", p.After.Time(), p.After.ID)
		}
		text, args := s.auditPageSQL(where, scans, p.Limit+1)
		b := &db.Batch{}
		b.Query(func(r db.Rows) error {
			var e domain.AuditEntry
			err := r.Scan(auditDest(&e)...)
			out.Items = append(out.Items, e)
			return err
		}, text, args...)
		return c.Send(ctx, b)
	})
	if err != nil {
		return out, mapUnavailable(err)
	}
	out.Items, out.More = trimPage(out.Items, p.Limit)
	return out, nil
}

// auditPageSQL returns a query that merges scans and its arguments. Each scan reads
// the newest entries from an index and stops after the given number of rows; the
// union keeps the newest of them. All scans share the arguments of where and the
// limit; each appends its own. The CROSS JOIN makes SQLite run the scans first,
// because it does not reorder such a join.
func (s *Store) auditPageSQL(where *conditions, scans []auditScan, rows int) (string, []any) {
	args := append(slices.Clone(where.args), rows)
	limit := len(args)
	texts := make([]string, len(scans))
	for i, scan := range scans {
		c := &conditions{parts: slices.Clone(where.parts), args: args}
		c.add(scan.text, scan.args...)
		from := `audit_entries e`
		if scan.keys != nil {
			table, values := s.db.ValuesTable(len(c.args)+1, db.Texts("value", scan.keys))
			c.args = append(c.args, values...)
			from = table + ` k` + s.db.Join("audit_entries", "e", `e.company_id = $1 AND `+scan.column+` = k.value`)
		}
		texts[i] = fmt.Sprintf(`SELECT * FROM (SELECT e.at, e.id FROM %s%s%s LIMIT $%d) w`, from, c.where(), auditOrder, limit)
		args = c.args
	}
	return fmt.Sprintf(`SELECT %s FROM (SELECT * FROM (%s) u ORDER BY u.at DESC, u.id DESC LIMIT $%d) q
		CROSS JOIN audit_entries e%s WHERE e.company_id = $1 AND e.id = q.id ORDER BY q.at DESC, q.id DESC`,
		auditColumns, strings.Join(texts, ` UNION `), limit, auditJoins), args
}

// AuditReport passes the log to yield in batches, the newest entry first, from one
// snapshot of the database. It never holds the whole log in memory: a batch is
// reused after yield has returned. An error of yield ends the report and is returned
// unchanged.
func (s *Store) AuditReport(ctx context.Context, company int64, f domain.AuditFilter, yield func([]domain.AuditEntry) error) error {
	return mapUnavailable(pipeline(ctx, newRowBatch[domain.AuditEntry],
		func(ctx context.Context, swap func(*auditBatch) (*auditBatch, error)) error {
			return s.db.Snapshot(ctx, func(c db.Conn) error { return s.readAudit(ctx, c, company, f, swap) })
		},
		func(b *auditBatch) error { return yield(b.rows) }))
}

// auditBatch is the reportBatch of audit entries.
type auditBatch = rowBatch[domain.AuditEntry]

// readAudit fills batches with the entries that match the filter. As pipeline
// explains, swap takes a full batch and returns an empty one.
func (s *Store) readAudit(ctx context.Context, c db.Conn, company int64, f domain.AuditFilter, swap func(*auditBatch) (*auditBatch, error)) error {
	where := auditConditions(company, f)
	if f.Search != "" {
		found, err := s.findAuditMatches(ctx, c, company, f.Search)
		if err != nil {
			return err
		}
		s.addAnyOf(where, found.scans())
	}
	batch, err := swap(nil)
	if err != nil {
		return err
	}
	var e domain.AuditEntry
	sql := `SELECT ` + auditColumns + ` FROM audit_entries e` + auditJoins + where.where() + auditOrder + unknownLimit
	err = forEachRow(ctx, c, query{sql, where.args}, auditDest(&e), func() (err error) {
		if batch.rows = append(batch.rows, e); len(batch.rows) == batchRows {
			batch, err = swap(batch)
		}
		return err
	})
	if err != nil {
		return err
	}
	_, err = swap(batch)
	return err
}
