package cabinet

import (
	"strconv"
	"strings"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

const employeeRows = 50

func (c *Cabinet) employeePages(private register) {
	private("GET "+view.PathEmployees, employees)
	private("GET "+view.PathEmployeeExport, exportEmployees)
	c.peopleBulkPages(private)
	c.personPages(private)
	c.importPages(private)
}

// mayChange reports whether the person may change anything in the company. Pages
// leave out what would only be refused.
func (p *page) mayChange() bool { return p.caller().Authorize(domain.PermissionChange) == nil }

// employeeFilter reads the filter from the address. It returns the filter as shown
// in the form and as the list takes it. A selection that does not exist is none.
func (p *page) employeeFilter() (view.EmployeeFilter, domain.EmployeeListFilter) {
	return employeeFilterOf(p.query)
}

func employeeFilterOf(read fieldReader) (view.EmployeeFilter, domain.EmployeeListFilter) {
	shown := view.EmployeeFilter{Search: strings.TrimSpace(read("q")), Tag: read("tag"), Show: read("show")}
	f := domain.EmployeeListFilter{Search: shown.Search, Tag: shown.Tag, Select: domain.EmployeeSelection(shown.Show)}
	if f.Check() != nil {
		shown.Show, f.Select = "", domain.EmployeesWorking
	}
	return shown, f
}

func employees(p *page) error {
	shown, f := p.employeeFilter()
	pg := p.peoplePage(employeeRows)
	found, err := p.Learning.EmployeeOverviews(p.r.Context(), p.caller(), f, pg)
	if err != nil {
		return err
	}
	v := view.EmployeeList{Filter: shown, Total: found.Total, Capped: found.Capped, CanChange: p.mayChange()}
	if v.Views, err = p.savedViews(domain.ViewEmployees); err != nil {
		return err
	}
	if found.Total == 0 { // it is not counted for a narrowed list
		v.Total, v.More = int64(len(found.Items)), found.More || pg.After != nil
	}
	for _, e := range found.Items {
		v.Employees = append(v.Employees, employeeView(e))
	}
	if found.Next != nil {
		v.Pager.Next, v.Partial = p.pageURL(strconv.FormatInt(found.Next.ID, 10)), len(found.Items) < employeeRows
	}
	if pg.After != nil {
		v.Pager.Previous = p.pageURL("")
	}
	return p.renderOK(view.EmployeesPage(p.shell(), v))
}

func employeeView(e domain.EmployeeOverview) view.Employee {
	return view.Employee{
		ID: e.ID, Name: e.Name, Email: e.Email, ExternalID: e.ExternalID, Tags: e.Tags, Open: e.Open, Overdue: e.Overdue,
		LastActivityAt: e.LastActivityAt, LeftAt: e.LeftAt,
	}
}

// exportEmployees answers with the narrowed list as a CSV file.
func exportEmployees(p *page) error {
	_, f := p.employeeFilter()
	return download(p, csvForExcel(), p.Reports.WriteEmployeeList, f)
}
