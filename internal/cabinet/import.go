package cabinet

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/report"
)

// MaxUpload is the largest request that may upload a file, in bytes.
const MaxUpload = 17 << 20

func (c *Cabinet) importPages(private register) {
	private("GET "+view.PathImport, importForm)
	private("POST "+view.PathImport, uploadImport)
	private("GET "+view.PathImportTemplate, importTemplate)
	private("GET "+view.PathImports+"/{id}", importColumns)
	private("POST "+view.PathImports+"/{id}", matchImport)
	private("GET "+view.PathImports+"/{id}/check", importCheck)
	private("POST "+view.PathImports+"/{id}/check", startImport)
	private("GET "+view.PathImports+"/{id}/result", importResult)
	private("POST "+view.PathImports+"/{id}/rows", correctImport)
	private("GET "+view.PathImports+"/{id}/missing.csv", importMissing)
	private("GET "+view.PathImports+"/{id}/failed.csv", importFailed)
	private("GET "+view.PathImports+"/{id}/result.csv", importRows)
}

func importForm(p *page) error { return p.renderOK(view.ImportPage(p.shell(), view.ImportForm{})) }

// importTemplate answers with a file that has the columns of an import.
func importTemplate(p *page) error {
	return p.csvFile("employees-template.csv", [][]string{
		{"externalId", "name", "email", "tags", "course", "deadline", "required"},
		{"HR-1001", "Anna Example", "anna@example.com", "warehouse; night shift", "", "", ""},
		{"HR-1002", "Boris Example", "boris@example.com", "office", "Workplace safety", "2027-01-31", "yes"},
	})
}

// csvFile answers with a small CSV file that Excel reads as UTF-8.
func (p *page) csvFile(name string, rows [][]string) error {
	h := p.w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	if _, err := io.WriteString(p.w, "\ufeff"); err != nil {
		return err
	}
	w := csv.NewWriter(p.w)
	w.UseCRLF = true
	for _, row := range rows {
		for i, cell := range row {
			row[i] = report.GuardFormula(cell)
		}
	}
	return w.WriteAll(rows)
}

func uploadImport(p *page) error {
	if err := p.caller().Authorize(domain.PermissionChange); err != nil {
		return err
	}
	name, content := "pasted.csv", []byte(p.rawField("text"))
	if file, head, err := p.r.FormFile("file"); err == nil {
		defer file.Close()
		if name = cleanText(head.Filename); head.Size > 0 {
			if content, err = io.ReadAll(file); err != nil {
				return err
			}
		}
	}
	if len(content) == 0 {
		return p.renderInvalid(view.ImportPage(p.shell(), view.ImportForm{Errors: view.Errors{"file": "Choose a file, or paste rows below."}}))
	}
	made, err := p.Imports.Upload(p.r.Context(), p.caller(), name, content)
	if errs, ok := formErrors(err); ok {
		return p.renderInvalid(view.ImportPage(p.shell(), view.ImportForm{Text: p.rawField("text"), Errors: errs}))
	}
	if err != nil {
		return err
	}
	return p.redirect(view.PathImportStep(made.ID))
}

// importFromPath returns the company's import that the path names, and its first rows.
func (p *page) importFromPath() (domain.Import, []domain.ImportRow, error) {
	id, err := p.id()
	if err != nil {
		return domain.Import{}, nil, err
	}
	return p.Imports.Get(p.r.Context(), p.caller(), id)
}

func importView(in domain.Import, rows []domain.ImportRow) view.Import {
	v := view.Import{ID: in.ID, FileName: in.FileName, Total: in.Total}
	for n, head := range in.Header {
		column := view.ImportColumn{Number: n, Head: head, Field: string(in.Fields[n])}
		for _, row := range rows {
			if n < len(row.Cells) && row.Cells[n] != "" {
				column.Samples = append(column.Samples, row.Cells[n])
			}
		}
		v.Columns = append(v.Columns, column)
	}
	return v
}

func importColumns(p *page) error {
	in, rows, err := p.importFromPath()
	if err != nil {
		return err
	}
	if in.JobID != 0 {
		return p.redirect(view.PathImportStep(in.ID, "result"))
	}
	return p.renderOK(view.ImportColumnsPage(p.shell(), importView(in, rows)))
}

func matchImport(p *page) error {
	in, rows, err := p.importFromPath()
	if err != nil {
		return err
	}
	for n := range in.Fields {
		in.Fields[n] = domain.ImportField(p.field("column" + strconv.Itoa(n)))
	}
	err = p.Imports.Match(p.r.Context(), p.caller(), in)
	if errs, ok := formErrors(err); ok {
		v := importView(in, rows)
		v.Errors = errs
		return p.renderInvalid(view.ImportColumnsPage(p.shell(), v))
	}
	if err != nil {
		return err
	}
	return p.redirect(view.PathImportStep(in.ID, "check"))
}

func importCheck(p *page) error {
	in, _, err := p.importFromPath()
	if err != nil {
		return err
	}
	if in.JobID != 0 {
		return p.redirect(view.PathImportStep(in.ID, "result"))
	}
	if in.CheckFields() != nil {
		return p.redirect(view.PathImportStep(in.ID))
	}
	found, err := p.Imports.Check(p.r.Context(), p.caller(), in)
	if err != nil {
		return err
	}
	v := view.ImportCheck{
		ID: in.ID, FileName: in.FileName, New: found.Counts[domain.ImportNew], Changed: found.Counts[domain.ImportChanged],
		Same: found.Counts[domain.ImportSame], Failed: found.Counts[domain.ImportFailed], CanChange: p.mayChange(),
		Assigns: in.Assigns(), Assign: found.Assign, Already: found.Already, Missing: found.Missing,
	}
	for _, row := range found.Failed {
		v.Problems = append(v.Problems, importProblem(in, row))
	}
	for _, e := range found.MissingPeople {
		v.MissingPeople = append(v.MissingPeople, view.PersonOption{ID: e.ID, Name: e.Name, Email: e.Email})
	}
	for _, c := range found.Changes {
		v.Changes = append(v.Changes, importChanges(c)...)
	}
	return p.renderOK(view.ImportCheckPage(p.shell(), v))
}

// importMissing answers with a file of the employees whom the import does not name.
func importMissing(p *page) error {
	in, _, err := p.importFromPath()
	if err != nil {
		return err
	}
	if in.JobID != 0 { // the rows that were carried out are no longer kept
		return p.redirect(view.PathImportStep(in.ID, "result"))
	}
	people, err := p.Imports.Missing(p.r.Context(), p.caller(), in)
	if err != nil {
		return err
	}
	rows := [][]string{{"externalId", "name", "email"}}
	for _, e := range people {
		rows = append(rows, []string{e.ExternalID, e.Name, e.Email})
	}
	return p.csvFile("missing-"+strconv.FormatInt(in.ID, 10)+".csv", rows)
}

// importProblem returns a row that failed, with the cells that can be corrected.
func importProblem(in domain.Import, row domain.ImportRow) view.ImportProblem {
	out := view.ImportProblem{Number: row.Number, Row: row.Number + 1, Problem: row.Problem}
	for n, field := range in.Fields {
		if field != "" && n < len(row.Cells) {
			out.Cells = append(out.Cells, view.ImportCell{Column: n, Field: string(field), Value: row.Cells[n]})
		}
	}
	return out
}

// correctImport stores the cells that were corrected on the page of the check.
func correctImport(p *page) error {
	if err := p.caller().Authorize(domain.PermissionChange); err != nil {
		return err
	}
	in, _, err := p.importFromPath()
	if err != nil {
		return err
	}
	numbers, err := parseIDs("a row", p.fields("row"))
	if err != nil {
		return err
	}
	rows, err := p.Imports.RowsByNumber(p.r.Context(), in, numbers)
	if err != nil {
		return err
	}
	_ = p.r.ParseForm() // a form that can't be read has no values
	for _, row := range rows {
		for n := range row.Cells {
			if values, sent := p.r.PostForm[view.ImportCellName(row.Number, n)]; sent {
				row.Cells[n] = strings.TrimSpace(cleanText(values[0]))
			}
		}
	}
	if err := p.Imports.Correct(p.r.Context(), p.caller(), in, rows); err != nil {
		return err
	}
	return p.redirect(view.PathImportStep(in.ID, "check"))
}

// importRows answers with a file of what became of each row. The cells of rows that
// were imported are not kept, so the rows are named by their numbers.
func importRows(p *page) error {
	in, _, err := p.importFromPath()
	if err != nil {
		return err
	}
	all, err := p.Imports.Rows(p.r.Context(), in)
	if err != nil {
		return err
	}
	rows := [][]string{{"row", "result", "course", "problem"}}
	for _, row := range all {
		rows = append(rows, []string{strconv.FormatInt(row.Number+1, 10), string(row.Outcome), string(row.Course), row.Problem})
	}
	return p.csvFile("import-"+strconv.FormatInt(in.ID, 10)+".csv", rows)
}

// importChanges returns one line for each field that a row changes.
func importChanges(c domain.ImportChange) []view.ImportChange {
	var out []view.ImportChange
	for _, f := range []struct{ field, before, after string }{
		{"Name", c.Before.Name, c.After.Name}, {"E-mail", c.Before.Email, c.After.Email},
		{"External id", c.Before.ExternalID, c.After.ExternalID},
		{"Tags", view.JoinTags(c.Before.Tags), view.JoinTags(c.After.Tags)},
	} {
		if f.before != f.after {
			out = append(out, view.ImportChange{PersonID: c.Before.ID, Name: c.Before.Name, Field: f.field, Before: f.before, After: f.after})
		}
	}
	return out
}

func startImport(p *page) error {
	in, _, err := p.importFromPath()
	if err != nil {
		return err
	}
	if err := p.Imports.Start(p.r.Context(), p.caller(), in); err != nil {
		return err
	}
	return p.redirect(view.PathImportStep(in.ID, "result"))
}

func importResult(p *page) error {
	in, _, err := p.importFromPath()
	if err != nil {
		return err
	}
	if in.JobID == 0 {
		return p.redirect(view.PathImportStep(in.ID))
	}
	job, err := p.Jobs.Get(p.r.Context(), p.caller(), in.JobID)
	if err != nil {
		return err
	}
	v := view.ImportResult{ID: in.ID, FileName: in.FileName, Total: job.Total, Done: job.Done, FinishedAt: job.FinishedAt, Problem: job.Problem, StartedBy: job.RequestedBy}
	if !job.Running() {
		failed, err := p.Imports.FailedRows(p.r.Context(), in)
		if err != nil {
			return err
		}
		v.Failed = int64(len(failed))
		for _, row := range failed[:min(len(failed), 100)] {
			v.Problems = append(v.Problems, view.ImportProblem{Row: row.Number + 1, Problem: row.Problem})
		}
	}
	return p.renderOK(view.ImportResultPage(p.shell(), v))
}

// importFailed answers with the failed rows as they were uploaded, with the problem
// in a last column, so that they can be corrected and uploaded again.
func importFailed(p *page) error {
	in, _, err := p.importFromPath()
	if err != nil {
		return err
	}
	failed, err := p.Imports.FailedRows(p.r.Context(), in)
	if err != nil {
		return err
	}
	rows := [][]string{append(append([]string{}, in.Header...), "problem")}
	for _, row := range failed {
		rows = append(rows, append(append([]string{}, row.Cells...), row.Problem))
	}
	return p.csvFile("failed-"+strconv.FormatInt(in.ID, 10)+".csv", rows)
}
