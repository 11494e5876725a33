package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/sheet"
)

// ImportStore keeps imports.
type ImportStore interface {
	AddImport(ctx context.Context, c domain.Caller, in domain.Import, rows [][]string) (domain.Import, error)
	Import(ctx context.Context, company, id int64) (domain.Import, error)
	ImportColumns(ctx context.Context, company int64, heads []string) (map[string]domain.ImportField, error)
	ImportRows(ctx context.Context, i domain.Import, outcome domain.ImportOutcome, after int64, limit int) ([]domain.ImportRow, error)
	SetImportFields(ctx context.Context, i domain.Import) error
	StartImport(ctx context.Context, c domain.Caller, i domain.Import) (domain.Job, error)
	SaveImportRows(ctx context.Context, i domain.Import, rows []domain.ImportRow, job domain.Job, p domain.JobProgress) error
	ProvisionStates(ctx context.Context, company int64, in []domain.Provision) ([]domain.ProvisionState, error)
	ProvisionAll(ctx context.Context, c domain.Caller, in []domain.Provision) ([]error, error)
	PatchEmployeeByID(ctx context.Context, c domain.Caller, id int64, p domain.EmployeePatch) (domain.EmployeePatched, error)
	PatchNames(ctx context.Context, c domain.Caller, patches map[int64]domain.EmployeePatch) error
	SetImportCells(ctx context.Context, i domain.Import, rows []domain.ImportRow) error
	EachEmployee(ctx context.Context, company int64, yield func(domain.Employee)) error
	Courses(ctx context.Context, company int64) (courses []domain.Course, version int64, err error)
	HeldCourses(ctx context.Context, company int64, employees, courses []int64) (map[[2]int64]bool, error)
	AssignImported(ctx context.Context, c domain.Caller, list []domain.PersonCourse) ([]domain.PersonCourseOutcome, error)
	ExpireImports(ctx context.Context, before time.Time) error
	Now() time.Time
}

const (
	importBatch     = 500
	checkBatch      = 2000
	importShown     = 100 // failed rows and changes that a check returns
	importRetention = 30 * 24 * time.Hour
)

// Imports is the import of employees from files.
type Imports struct {
	store ImportStore
	jobs  *Jobs
}

// NewImports returns the imports and registers their background work.
func NewImports(store ImportStore, jobs *Jobs) *Imports {
	i := &Imports{store: store, jobs: jobs}
	jobs.Register(domain.JobImport, i.step)
	return i
}

// Upload stores a file and proposes what its columns hold. Codes: invalid_request.
func (i *Imports) Upload(ctx context.Context, c domain.Caller, fileName string, content []byte) (domain.Import, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Import{}, err
	}
	table, err := sheet.Read(content)
	if err != nil {
		return domain.Import{}, domain.Invalid(domain.FieldError{Field: "file", Message: err.Error()})
	}
	if head := slices.IndexFunc(table.Header, isAddress); head >= 0 {
		return domain.Import{}, domain.Invalid(domain.FieldError{Field: "file", Message: "The first row must name the columns, but it has an e-mail address. " +
			"Put a row such as “externalId, name, email” above it."})
	}
	before, err := i.store.ImportColumns(ctx, c.Company.ID, table.Header)
	if err != nil {
		return domain.Import{}, err
	}
	in := domain.Import{FileName: fileName, Header: table.Header, Fields: domain.GuessImportFields(table.Header, before)}
	return i.store.AddImport(ctx, c, in, table.Rows)
}

// isAddress reports whether a cell is an e-mail address.
func isAddress(cell string) bool {
	_, host, found := strings.Cut(strings.TrimSpace(cell), "@")
	return found && strings.Contains(host, ".") && !strings.ContainsAny(cell, "( ")
}

// Get returns an import and its first rows. Codes: not_found.
func (i *Imports) Get(ctx context.Context, c domain.Caller, id int64) (domain.Import, []domain.ImportRow, error) {
	in, err := i.store.Import(ctx, c.Company.ID, id)
	if err != nil {
		return in, nil, err
	}
	rows, err := i.store.ImportRows(ctx, in, "", 0, 3)
	return in, rows, err
}

// Match stores which column holds what. Codes: invalid_request, not_found, conflict.
func (i *Imports) Match(ctx context.Context, c domain.Caller, in domain.Import) error {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return err
	}
	if err := in.CheckFields(); err != nil {
		return err
	}
	return i.store.SetImportFields(ctx, in)
}

// Start carries an import out as background work. Codes: conflict.
func (i *Imports) Start(ctx context.Context, c domain.Caller, in domain.Import) error {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return err
	}
	if err := in.CheckFields(); err != nil {
		return err
	}
	_, err := i.store.StartImport(ctx, c, in)
	i.jobs.Wake()
	return err
}

// Expire removes imports that are older than the retention, with their rows.
func (i *Imports) Expire(ctx context.Context) error {
	return i.store.ExpireImports(ctx, i.store.Now().Add(-importRetention))
}

// Correct replaces cells of rows, so that they can be checked again. Codes:
// not_found, conflict.
func (i *Imports) Correct(ctx context.Context, c domain.Caller, in domain.Import, rows []domain.ImportRow) error {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return err
	}
	return i.store.SetImportCells(ctx, in, rows)
}

// step carries out the next rows. Repeating it is safe: a person who was added is
// found, a change that was already made has no effect, and a course that was assigned is
// there already.
func (i *Imports) step(ctx context.Context, c domain.Caller, job domain.Job) (domain.JobProgress, error) {
	var id int64
	if err := json.Unmarshal(job.Input, &id); err != nil {
		return domain.JobProgress{}, fmt.Errorf("read the input of an import: %w", err)
	}
	in, err := i.store.Import(ctx, c.Company.ID, id)
	if err != nil {
		return domain.JobProgress{}, err
	}
	run, err := i.newRun(ctx, c.Company, in)
	if err != nil {
		return domain.JobProgress{}, err
	}
	after, _ := strconv.ParseInt(job.Cursor, 10, 64) // the empty cursor is the beginning
	rows, err := i.store.ImportRows(ctx, in, "", after, importBatch)
	if err != nil || len(rows) == 0 {
		return domain.JobProgress{Cursor: job.Cursor, Finished: true}, err
	}
	decided, err := run.decide(ctx, rows)
	if err != nil {
		return domain.JobProgress{}, err
	}
	if err := i.apply(ctx, c, decided); err != nil {
		return domain.JobProgress{}, err
	}
	if err := i.assign(ctx, c, in, decided); err != nil {
		return domain.JobProgress{}, err
	}
	for n, d := range decided {
		rows[n].Outcome, rows[n].Course = d.outcome, d.course
		if d.err != nil {
			rows[n].Outcome, rows[n].Problem = domain.ImportFailed, importProblem(d.err)
		}
	}
	last := rows[len(rows)-1].Number
	progress := domain.JobProgress{Cursor: strconv.FormatInt(last, 10), Done: int64(len(rows)), Finished: last >= in.Total, Saved: true}
	return progress, i.store.SaveImportRows(ctx, in, rows, job, progress)
}

// isRefusal reports whether an error is about the row, not about the service.
func isRefusal(err error) bool {
	var known *domain.Error
	return errors.As(err, &known) && known.Code != domain.CodeUnavailable
}

// importColumns are the fields of a row as the pages of an import name them.
var importColumns = map[string]string{
	"name": "Name", "email": "E-mail", "externalId": "External id", "tags": "Tags", "course": "Course", "deadline": "Deadline", "required": "Required",
}

// importProblem returns what a person is shown about a row that failed.
func importProblem(err error) string {
	var known *domain.Error
	if !errors.As(err, &known) {
		return "The row can't be imported."
	}
	if len(known.Fields) == 0 {
		return known.Message
	}
	var parts []string
	for _, f := range known.Fields {
		parts = append(parts, cmp.Or(importColumns[f.Field], f.Field)+" "+f.Message)
	}
	return strings.Join(parts, "; ") + "."
}

// FailedRows returns the rows of an import that failed.
func (i *Imports) FailedRows(ctx context.Context, in domain.Import) ([]domain.ImportRow, error) {
	return i.store.ImportRows(ctx, in, domain.ImportFailed, 0, sheet.MaxRows)
}

// RowsByNumber returns the rows with the numbers, in ascending order, at most as many as
// a check returns.
func (i *Imports) RowsByNumber(ctx context.Context, in domain.Import, numbers []int64) ([]domain.ImportRow, error) {
	var out []domain.ImportRow
	for _, n := range slices.Compact(slices.Sorted(slices.Values(numbers[:min(len(numbers), importShown)]))) {
		rows, err := i.store.ImportRows(ctx, in, "", n-1, 1)
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 && rows[0].Number == n {
			out = append(out, rows[0])
		}
	}
	return out, nil
}

// Rows returns all rows of an import with what became of them.
func (i *Imports) Rows(ctx context.Context, in domain.Import) ([]domain.ImportRow, error) {
	return i.store.ImportRows(ctx, in, "", 0, sheet.MaxRows)
}
