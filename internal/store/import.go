package store

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// importStep is how many rows are stored by one statement.
const importStep = 2000

// MaxImports is how many imports a company has at a time, carried out or not: at most
// 32 MiB of text each.
const MaxImports = 20

// AddImport stores a table with its rows, in one transaction. If the company has
// MaxImports, the oldest one that is not running makes room.
func (s *Store) AddImport(ctx context.Context, c domain.Caller, in domain.Import, rows [][]string) (domain.Import, error) {
	in.CompanyID, in.Total = c.Company.ID, int64(len(rows))
	all := make([]domain.ImportRow, len(rows))
	for i, cells := range rows {
		all[i] = domain.ImportRow{Number: int64(i + 1), Cells: cells}
	}
	err := s.write(ctx, func(tx db.Tx, _ *outbox) error {
		if err := tx.Send(ctx, &db.Batch{}); err != nil {
			return err
		}
		in.CreatedAt = tx.Now()
		b := &db.Batch{}
		// The lock of the company keeps two uploads from counting the same imports.
		b.Query(ignoreRow, `SELECT x.id FROM companies x WHERE x.id = $1`+s.db.ForUpdate("x"), in.CompanyID)
		// The LIMIT has no effect, but SQLite takes no OFFSET without one.
		b.Exec(`DELETE FROM imports WHERE company_id = $1 AND id IN (SELECT i.id FROM imports i
			LEFT JOIN jobs j ON j.company_id = i.company_id AND j.id = i.job_id
			WHERE i.company_id = $1 AND (j.id IS NULL OR j.finished_at IS NOT NULL)
			ORDER BY i.id DESC LIMIT $3 OFFSET $2)`, in.CompanyID, MaxImports-1, math.MaxInt64)
		b.Query(func(r db.Rows) error { return r.Scan(&in.ID) }, `INSERT INTO imports (company_id, file_name, header, fields, total, job_id, created_at)
			VALUES ($1, $2, $3, $4, $5, 0, $6) RETURNING id`,
			in.CompanyID, in.FileName, encodeList(in.Header), encodeList(in.Fields), in.Total, tx.Now())
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		for from := 0; from < len(all); from += importStep {
			part := all[from:min(from+importStep, len(all))]
			values, args := s.db.ValuesTable(3, db.Columns(part,
				db.IntColumn("number", func(r *domain.ImportRow) int64 { return r.Number }),
				db.TextColumn("cells", func(r *domain.ImportRow) string { return encodeList(r.Cells) }))...)
			if _, err := tx.Exec(ctx, `INSERT INTO import_rows (company_id, import_id, number, cells, outcome, problem)
				SELECT $1, $2, r.number, r.cells, '', '' FROM `+values+` r`, append([]any{in.CompanyID, in.ID}, args...)...); err != nil {
				return err
			}
		}
		return nil
	})
	return in, err
}

// Import returns an import. Codes: not_found.
func (s *Store) Import(ctx context.Context, company, id int64) (domain.Import, error) {
	var i domain.Import
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var header, fields string
		err := r.Scan(&i.CompanyID, &i.ID, &i.FileName, &header, &fields, &i.Total, &i.JobID, &i.CreatedAt)
		if err == nil {
			i.Header, err = decodeList[string](header)
		}
		if err == nil {
			i.Fields, err = decodeList[domain.ImportField](fields)
		}
		return err
	}, `SELECT i.company_id, i.id, i.file_name, i.header, i.fields, i.total, i.job_id, i.created_at FROM imports i
		WHERE i.company_id = $1 AND i.id = $2`, company, id)
	err := s.read(ctx, b)
	if err == nil && i.ID == 0 {
		err = domain.ErrImportNotFound
	}
	return i, err
}

// ImportRows returns the next rows of an import, only those with the outcome if it
// is not empty.
func (s *Store) ImportRows(ctx context.Context, i domain.Import, outcome domain.ImportOutcome, after int64, limit int) ([]domain.ImportRow, error) {
	var out []domain.ImportRow
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var row domain.ImportRow
		var cells string
		err := r.Scan(&row.Number, &cells, &row.Outcome, &row.Course, &row.Problem)
		if err == nil {
			row.Cells, err = decodeList[string](cells)
		}
		out = append(out, row)
		return err
	}, `SELECT r.number, r.cells, r.outcome, r.assigned, r.problem FROM import_rows r WHERE r.company_id = $1 AND r.import_id = $2 AND r.number > $3
		AND ($4 = '' OR r.outcome = $4) ORDER BY r.number LIMIT $5`, i.CompanyID, i.ID, after, string(outcome), limit)
	err := s.read(ctx, b)
	return out, err
}

// SetImportFields stores which column holds what, and remembers it for later imports of
// the company. Codes: conflict.
func (s *Store) SetImportFields(ctx context.Context, i domain.Import) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		b := &db.Batch{}
		b.Query(ignoreRow, `SELECT x.id FROM companies x WHERE x.id = $1`+s.db.ForUpdate("x"), i.CompanyID)
		b.One(domain.ErrImportStarted, `UPDATE imports SET fields = $3 WHERE company_id = $1 AND id = $2 AND job_id = 0`,
			i.CompanyID, i.ID, encodeList(i.Fields))
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		b = &db.Batch{}
		s.rememberColumns(b, i, tx.Now())
		return tx.Send(ctx, b)
	})
}

// StartImport adds the job that carries an import out, once; another import of the
// company must not be running. Codes: conflict.
func (s *Store) StartImport(ctx context.Context, c domain.Caller, i domain.Import) (domain.Job, error) {
	var job domain.Job
	err := s.write(ctx, func(tx db.Tx, _ *outbox) error {
		running := false
		b := &db.Batch{}
		b.Query(ignoreRow, `SELECT x.id FROM companies x WHERE x.id = $1`+s.db.ForUpdate("x"), i.CompanyID)
		b.Query(func(db.Rows) error { running = true; return nil }, `SELECT 1 FROM jobs j
			WHERE j.company_id = $1 AND j.kind = $2 AND j.finished_at IS NULL LIMIT 1`, i.CompanyID, string(domain.JobImport))
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		if running {
			return domain.ErrImportRunning
		}
		c.Actor.RequestID = domain.ImportRequest(i.ID)
		var err error
		if job, err = s.insertJob(ctx, tx, c, domain.NewJob{Kind: domain.JobImport, Input: i.ID, Total: i.Total}); err != nil {
			return err
		}
		b = &db.Batch{}
		b.One(domain.ErrImportStarted, `UPDATE imports SET job_id = $3 WHERE company_id = $1 AND id = $2 AND job_id = 0`, i.CompanyID, i.ID, job.ID)
		return tx.Send(ctx, b)
	})
	return job, err
}

// SaveImportRows stores what became of rows, together with the progress of the job.
func (s *Store) SaveImportRows(ctx context.Context, i domain.Import, rows []domain.ImportRow, job domain.Job, p domain.JobProgress) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		if err := tx.Send(ctx, &db.Batch{}); err != nil {
			return err
		}
		b := &db.Batch{}
		values, args := s.db.ValuesTable(3, db.Columns(rows,
			db.IntColumn("number", func(r *domain.ImportRow) int64 { return r.Number }),
			db.TextColumn("outcome", func(r *domain.ImportRow) domain.ImportOutcome { return r.Outcome }),
			db.TextColumn("assigned", func(r *domain.ImportRow) domain.ImportCourseOutcome { return r.Course }),
			db.TextColumn("problem", func(r *domain.ImportRow) string { return r.Problem }))...)
		b.Exec(`UPDATE import_rows SET outcome = r.outcome, assigned = r.assigned, problem = r.problem, cells = CASE WHEN r.outcome = 'failed' THEN cells ELSE '[]' END
			FROM `+values+` r WHERE import_rows.company_id = $1 AND import_rows.import_id = $2 AND import_rows.number = r.number`,
			append([]any{i.CompanyID, i.ID}, args...)...)
		if err := queueJobProgress(b, tx.Now(), job, p); err != nil {
			return err
		}
		return tx.Send(ctx, b)
	})
}

// ProvisionStates returns what exists of the people who are asked for.
func (s *Store) ProvisionStates(ctx context.Context, company int64, in []domain.Provision) ([]domain.ProvisionState, error) {
	out := make([]domain.ProvisionState, len(in))
	keys, args := s.db.ValuesTable(1, append(db.Columns(in,
		db.TextColumn("external_id", func(p *domain.Provision) string { return p.ExternalID }),
		db.TextColumn("email", func(p *domain.Provision) string { return domain.FoldEmail(p.Email) })),
		db.Ints("n", rowNumbers(len(in))))...)
	each := func(r db.Rows) error {
		var n int64
		e := &domain.Employee{}
		err := scanEmployee(r, e, &n)
		if err == nil {
			out[n].Add(in[n], e)
		}
		return err
	}
	args = append(args, company)
	b := &db.Batch{}
	for _, condition := range []string{`e.external_id = k.external_id`, `e.email_folded = k.email`} {
		b.Query(each, `SELECT `+employeeColumns+`, k.n FROM `+keys+` k`+
			s.db.Join("employees", "e", fmt.Sprintf(`e.company_id = $%d AND `, len(args))+condition+` AND e.left_at IS NULL`), args...)
	}
	err := s.read(ctx, b)
	return out, err
}

// ProvisionAll provisions several people in one transaction as far as possible. A
// problem with one of them is in its result.
func (s *Store) ProvisionAll(ctx context.Context, c domain.Caller, in []domain.Provision) ([]error, error) {
	requests := make([]provisionRequest, len(in))
	for i := range in {
		requests[i] = provisionRequest{c, in[i]}
	}
	out := make([]error, len(in))
	results, err := s.provision(ctx, requests)
	for i := range requests {
		if err != nil || results[i].alone {
			var one []provisionResult
			if one, out[i] = s.provision(ctx, requests[i:i+1]); out[i] == nil {
				out[i] = one[0].err
			}
			continue
		}
		out[i] = results[i].err
	}
	return out, ctx.Err()
}

// ExpireImports removes imports that were made before the instant, with their rows,
// in small transactions.
func (s *Store) ExpireImports(ctx context.Context, before time.Time) error {
	for {
		n, err := s.execStep(ctx, `DELETE FROM imports WHERE (company_id, id) IN (SELECT i.company_id, i.id FROM imports i
			WHERE i.created_at < $1 ORDER BY i.created_at LIMIT 1`+s.db.ForUpdate("i")+s.db.SkipLocked()+`)`, before)
		if err != nil || n == 0 {
			return err
		}
	}
}

// eraseImported queues the removal of the rows with an address that a company, or any
// company if it is 0, has uploaded.
func eraseImported(b *db.Batch, company int64, address string) {
	for _, email := range sortedUnique([]string{address, domain.FoldEmail(address)}) {
		const holds = ` AND cells <> '[]' AND lower(cells) LIKE $1 ESCAPE '!'`
		if company == 0 {
			b.Exec(`DELETE FROM import_rows WHERE company_id IN (SELECT c.id FROM companies c)`+holds, cellPattern(email))
			continue
		}
		b.Exec(`DELETE FROM import_rows WHERE company_id = $2`+holds, cellPattern(email), company)
	}
}

// cellPattern returns the pattern of the cells of a row of which one is the text.
func cellPattern(text string) string {
	cell := encodeList([]string{strings.ToLower(text)})
	return "%" + likeEscaper.Replace(cell[1:len(cell)-1]) + "%"
}
