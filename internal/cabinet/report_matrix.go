package cabinet

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func (r reportRequest) matrixQuery() domain.MatrixQuery {
	return domain.MatrixQuery{
		People: domain.EmployeeListFilter{Search: r.shown.Search, Tag: r.question.Tag}, CourseID: r.question.CourseID, Part: r.part,
	}
}

func matrixReport(p *page, r reportRequest) error {
	frame, err := p.reportView(r)
	if err != nil {
		return err
	}
	pg := p.peoplePage(employeeRows)
	found, err := p.Reports.Matrix(p.r.Context(), p.caller(), r.matrixQuery(), pg)
	if err != nil {
		return err
	}
	v := view.MatrixReport{Report: frame, First: found.Part*domain.MatrixColumns + 1, AllCourses: found.AllCourses}
	for _, c := range found.Courses {
		v.Columns = append(v.Columns, c.Name)
	}
	if found.Part > 0 {
		v.Earlier = p.partURL(found.Part - 1)
	}
	if v.First+len(v.Columns) <= found.AllCourses {
		v.Later = p.partURL(found.Part + 1)
	}
	for _, e := range found.People.Items {
		v.Rows = append(v.Rows, p.matrixRow(e, found))
	}
	if next := found.People.Next; next != nil {
		v.Pager.Next = p.pageURL(strconv.FormatInt(next.ID, 10))
	}
	if pg.After != nil {
		v.Pager.Previous = p.pageURL("")
	}
	return p.renderOK(view.MatrixPage(p.shell(), v))
}

func (p *page) matrixRow(e domain.EmployeeOverview, m domain.Matrix) view.MatrixRow {
	row := view.MatrixRow{PersonID: e.ID, Person: e.Name, Email: e.Email}
	for _, c := range m.Courses {
		cell, assigned := m.Cells[domain.MatrixKey{EmployeeID: e.ID, CourseID: c.ID}]
		shown := view.MatrixCell{AssignmentID: cell.AssignmentID, Status: string(cell.Status)}
		shown.Overdue = assigned && cell.Overdue(p.Now())
		row.Cells = append(row.Cells, shown)
	}
	return row
}

// peoplePage returns the page of a list of people that the address names.
func (p *page) peoplePage(limit int) domain.PageRequest {
	pg := domain.PageRequest{Limit: limit}
	if after, err := strconv.ParseInt(p.query("after"), 10, 64); err == nil {
		pg.After = &domain.Cursor{ID: after}
	}
	return pg
}

// partURL returns this page's address with another part of the courses.
func (p *page) partURL(part int) string {
	q := p.r.URL.Query()
	q.Set("part", strconv.Itoa(part))
	return (&url.URL{Path: p.r.URL.Path, RawQuery: q.Encode()}).String()
}

// personSearch finds the person whose record is wanted.
func personSearch(p *page) error {
	v := view.PersonSearch{Report: view.Report{Kind: reportPersons, CanChange: p.mayChange(), Filter: view.ReportFilter{Search: strings.TrimSpace(p.query("q"))}}}
	found, err := p.Learning.EmployeeOverviews(p.r.Context(), p.caller(), domain.EmployeeListFilter{Search: v.Filter.Search}, domain.PageRequest{Limit: foundPersons})
	if err != nil {
		return err
	}
	for _, e := range found.Items {
		v.Rows = append(v.Rows, employeeView(e))
	}
	v.More = found.More
	return p.renderOK(view.PersonSearchPage(p.shell(), v))
}
