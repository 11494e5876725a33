package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	LatestImports(ctx context.Context, company int64, limit int) ([]domain.Import, error)
	ImportRows(ctx context.Context, i domain.Import, outcome domain.ImportOutcome, after int64, limit int) ([]domain.ImportRow, error)
	SetImportFields(ctx context.Context, i domain.Import) error
	StartImport(ctx context.Context, c domain.Caller, i domain.Import) (domain.Job, error)
	SaveImportRows(ctx context.Context, i domain.Import, rows []domain.ImportRow, job domain.Job, p domain.JobProgress) error
	ProvisionStates(ctx context.Context, company int64, in []domain.Provision) ([]domain.ProvisionState, error)
	ProvisionAll(ctx context.Context, c domain.Caller, in []domain.Provision) ([]error, error)
	PatchEmployeeByID(ctx context.Context, c domain.Caller, id int64, p domain.EmployeePatch) (domain.EmployeePatched, error)
	ExpireImports(ctx context.Context, before time.Time) error
	Now() time.Time
}

const (
	importBatch     = 500
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
	if err := i.store.ExpireImports(ctx, i.store.Now().Add(-importRetention)); err != nil {
		return domain.Import{}, err
	}
	table, err := sheet.Read(content)
	if err != nil {
		return domain.Import{}, domain.Invalid(domain.FieldError{Field: "file", Message: err.Error()})
	}
	latest, err := i.store.LatestImports(ctx, c.Company.ID, 1)
	if err != nil {
		return domain.Import{}, err
	}
	before := map[string]domain.ImportField{}
	for _, old := range latest {
		for n, head := range old.Header {
			before[head] = old.Fields[n]
		}
	}
	in := domain.Import{FileName: fileName, Header: table.Header, Fields: domain.GuessImportFields(table.Header, before)}
	return i.store.AddImport(ctx, c, in, table.Rows)
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

// Check returns what an import would do now. It changes nothing.
func (i *Imports) Check(ctx context.Context, in domain.Import) (domain.ImportCheck, error) {
	out := domain.ImportCheck{Counts: map[domain.ImportOutcome]int64{}}
	for after := int64(0); ; {
		rows, err := i.store.ImportRows(ctx, in, "", after, importBatch)
		if err != nil || len(rows) == 0 {
			return out, err
		}
		after = rows[len(rows)-1].Number
		decided, err := i.decide(ctx, in, rows)
		if err != nil {
			return out, err
		}
		for n, d := range decided {
			out.Counts[d.outcome]++
			switch {
			case d.outcome == domain.ImportFailed && len(out.Failed) < importShown:
				rows[n].Problem = importProblem(d.err)
				out.Failed = append(out.Failed, rows[n])
			case d.outcome == domain.ImportChanged && len(out.Changes) < importShown:
				out.Changes = append(out.Changes, domain.ImportChange{Number: rows[n].Number, Before: d.employee, After: d.patch.Apply(d.employee)})
			}
		}
	}
}

type importDecision struct {
	in       domain.Provision
	outcome  domain.ImportOutcome
	employee domain.Employee
	patch    domain.EmployeePatch
	err      error
}

func (i *Imports) decide(ctx context.Context, in domain.Import, rows []domain.ImportRow) ([]importDecision, error) {
	out, people := make([]importDecision, len(rows)), make([]domain.Provision, len(rows))
	for n, row := range rows {
		people[n], out[n].err = in.Person(row.Cells)
		out[n].in = people[n]
	}
	states, err := i.store.ProvisionStates(ctx, in.CompanyID, people)
	if err != nil {
		return nil, err
	}
	for n := range out {
		d := &out[n]
		if d.err != nil {
			d.outcome = domain.ImportFailed
			continue
		}
		d.outcome, d.employee, d.patch, d.err = domain.DecideImport(d.in, states[n])
	}
	return out, nil
}

// step carries out the next rows. Repeating it is safe: a person who was added is
// found, and a change that was made is none any more.
func (i *Imports) step(ctx context.Context, c domain.Caller, job domain.Job) (domain.JobProgress, error) {
	var id int64
	if err := json.Unmarshal(job.Input, &id); err != nil {
		return domain.JobProgress{}, fmt.Errorf("read the input of an import: %w", err)
	}
	in, err := i.store.Import(ctx, c.Company.ID, id)
	if err != nil {
		return domain.JobProgress{}, err
	}
	after, _ := strconv.ParseInt(job.Cursor, 10, 64) // the empty cursor is the beginning
	rows, err := i.store.ImportRows(ctx, in, "", after, importBatch)
	if err != nil || len(rows) == 0 {
		return domain.JobProgress{Cursor: job.Cursor, Finished: true}, err
	}
	decided, err := i.decide(ctx, in, rows)
	if err != nil {
		return domain.JobProgress{}, err
	}
	if err := i.apply(ctx, c, decided); err != nil {
		return domain.JobProgress{}, err
	}
	for n, d := range decided {
		rows[n].Outcome = d.outcome
		if d.err != nil {
			rows[n].Outcome, rows[n].Problem = domain.ImportFailed, importProblem(d.err)
		}
	}
	last := rows[len(rows)-1].Number
	progress := domain.JobProgress{Cursor: strconv.FormatInt(last, 10), Done: int64(len(rows)), Finished: last >= in.Total, Saved: true}
	return progress, i.store.SaveImportRows(ctx, in, rows, job, progress)
}

// apply adds the new people together and changes the others one by one. What is
// wrong with one of them is in its decision.
func (i *Imports) apply(ctx context.Context, c domain.Caller, decided []importDecision) error {
	var added []*importDecision
	var people []domain.Provision
	for n := range decided {
		d := &decided[n]
		switch d.outcome {
		case domain.ImportNew:
			added, people = append(added, d), append(people, d.in)
		case domain.ImportChanged:
			if _, err := i.store.PatchEmployeeByID(ctx, c, d.employee.ID, d.patch); err != nil {
				if !isRefusal(err) {
					return err
				}
				d.err = err
			}
		}
	}
	if len(added) == 0 {
		return nil
	}
	problems, err := i.store.ProvisionAll(ctx, c, people)
	if err != nil {
		return err
	}
	for n, problem := range problems {
		if problem != nil && !isRefusal(problem) {
			return problem
		}
		added[n].err = problem
	}
	return nil
}

// isRefusal reports whether an error is about the row, not about the service.
func isRefusal(err error) bool {
	var known *domain.Error
	return errors.As(err, &known) && known.Code != domain.CodeUnavailable
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
		parts = append(parts, f.Field+" "+f.Message)
	}
	return strings.Join(parts, "; ") + "."
}

// FailedRows returns the rows of an import that failed.
func (i *Imports) FailedRows(ctx context.Context, in domain.Import) ([]domain.ImportRow, error) {
	return i.store.ImportRows(ctx, in, domain.ImportFailed, 0, sheet.MaxRows)
}
