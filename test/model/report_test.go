package model

import (
	"bytes"
	"encoding/csv"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"
)

var (
	assignmentColumns = strings.Fields(`id externalId employeeExternalId employeeName employeeEmail courseId courseName status statusCategory
		isOverdue completionPercent score numberOfAttempts isRequired assignedAt deadline startedAt completedAt lastActivityAt`)
	employeeColumns = strings.Fields(`id externalId email name role tags joinedAt assigned started completed failed needsRetry overdue`)
)

func (s *sequence) reportAssignments() {
	c := s.company()
	found, query := s.filtered(c)
	s.readReport(report{c, "assignments", query, assignmentColumns}, func(a *answer) []object {
		var rows []object
		for _, x := range found {
			row := a.full(x)
			row["employeeName"] = x.employee.name
			rows = append(rows, row)
		}
		return rows
	})
}

func (s *sequence) reportEmployees() {
	c, query := s.company(), url.Values{}
	found := byID(c.live(), func(e *employee) int64 { return e.id })
	if s.chance("filter by tag", 3) {
		tag := pick(s, "tag", tags)
		query.Set("tag", tag)
		found = slices.DeleteFunc(found, func(e *employee) bool { return !slices.Contains(e.tags, tag) })
	}
	s.readReport(report{c, "employees", query, employeeColumns}, func(a *answer) []object {
		var rows []object
		for _, e := range found {
			row := e.json()
			row["tags"] = strings.Join(e.tags, "; ")
			for column, status := range map[string]string{"assigned": "assigned", "started": "started", "completed": "completed", "failed": "failed", "needsRetry": "needs_retry"} {
				row[column] = count(e.assignments, func(x *assignment) bool { return x.status == status })
			}
			row["overdue"] = matcher(func(got any) error { return a.checkOverdueCount(e, got) })
			rows = append(rows, row)
		}
		return rows
	})
}

func count(list []*assignment, fits func(*assignment) bool) int {
	return len(slices.DeleteFunc(slices.Clone(list), func(x *assignment) bool { return !fits(x) }))
}

// checkOverdueCount allows for the assignments whose deadline passes just now.
func (a *answer) checkOverdueCount(e *employee, got any) error {
	least := count(e.assignments, func(x *assignment) bool { is, sure := x.overdue(a.began, a.ended); return is && sure })
	unsure := count(e.assignments, func(x *assignment) bool { _, sure := x.overdue(a.began, a.ended); return !sure })
	if n, _ := got.(float64); n > float64(least) && n <= float64(least+unsure) {
		return nil
	}
	return match(got, least)
}

// report is a report that a company asks for.
type report struct {
	company *company
	name    string
	query   url.Values
	columns []string
}

// readReport downloads a report in one of its forms and compares it row by row.
func (s *sequence) readReport(r report, rows func(*answer) []object) {
	form := pick(s, "form", []string{"csv", "csv", "csv", "bom", "xlsx"})
	path := "reports/" + r.name + ".csv?"
	switch form {
	case "bom":
		r.query.Set("bom", "true")
	case "xlsx":
		path = "reports/" + r.name + ".xlsx?"
	}
	a := s.call(r.company.token, http.MethodGet, apiPath(path)+r.query.Encode(), nil)
	got, want := a.cells(form), rows(a)
	if a.status != http.StatusOK || len(got) != len(want)+1 || !slices.Equal(got[0], r.columns) {
		s.Fatalf("%s: %d, %d rows, want %d:\n%v", a.request, a.status, len(got)-1, len(want), got)
	}
	for i, row := range want {
		for j, column := range r.columns {
			cell := ""
			if j < len(got[i+1]) { // a row of a sheet ends with its last value
				cell = got[i+1][j]
			}
			if err := match(decodeCell(form, column, cell), row[column]); err != nil {
				s.Fatalf("%s on %s: row %d, %s: %v", a.request, s.world.engine, i, column, err)
			}
		}
	}
}

// wholeSecond is an instant in a sheet, which has no milliseconds.
type wholeSecond time.Time

// sheetEpoch is day 0 of a spreadsheet.
var sheetEpoch = time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)

// cells returns the cells of a report, the header too.
func (a *answer) cells(form string) [][]string {
	text := a.text
	if form == "xlsx" {
		book, err := excelize.OpenReader(bytes.NewReader(text))
		if err != nil {
			a.Fatalf("%s: %v", a.request, err)
		}
		rows, err := book.GetRows(book.GetSheetName(0), excelize.Options{RawCellValue: true})
		if err != nil {
			a.Fatalf("%s: %v", a.request, err)
		}
		return rows
	}
	if rest, ok := bytes.CutPrefix(text, []byte("\uFEFF")); ok != (form == "bom") {
		a.Fatalf("%s: the file starts with a byte order mark: %v", a.request, ok)
	} else {
		text = rest
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		a.Fatalf("%s: %v", a.request, err)
	}
	return rows
}

// decodeCell returns the value that JSON would have.
func decodeCell(form, column, cell string) any {
	isTime := strings.HasSuffix(column, "At") || column == "deadline"
	switch {
	case cell == "" && (isTime || column == "score"):
		return nil
	case isTime && form == "xlsx":
		days, _ := strconv.ParseFloat(cell, 64)
		return wholeSecond(sheetEpoch.Add(time.Duration(math.Round(days*24*3600)) * time.Second))
	case isTime:
		return cell
	case strings.HasPrefix(column, "is"):
		return strings.EqualFold(cell, "true") || cell == "1"
	}
	switch column {
	case "externalId", "employeeExternalId", "employeeName", "employeeEmail", "courseName", "status", "statusCategory", "email", "name", "role", "tags":
		return unguard(form, cell)
	}
	n, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return cell
	}
	return n
}

// unguard removes the apostrophe that keeps a spreadsheet from running a text.
func unguard(form, cell string) string {
	rest, ok := strings.CutPrefix(cell, "'")
	if ok && form != "xlsx" && strings.ContainsAny(rest[:1], "=+-@") {
		return rest
	}
	if form != "xlsx" && strings.ContainsAny(cell[:min(1, len(cell))], "=+-@") {
		return "unguarded " + cell
	}
	return cell
}
