package view_test

import (
	"fmt"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

func people() []view.Employee {
	list := []view.Employee{
		{ID: 1, Name: "Anna Bērziņa", Email: "anna.berzina@baltic-freight.example", ExternalID: "emp-00412", Tags: []string{"warehouse", "night shift"}, Open: 4, Overdue: 2, LastActivityAt: ptr(ago(3 * time.Hour))},
		{ID: 2, Name: "Maximiliane Alexandra von der Goltz-Hohenstein-Oberdorf zu Wasserwirtschaft", Email: "maximiliane.alexandra.von-der-goltz@vereinigte-wasserwirtschaft.example", ExternalID: "a-very-long-external-id-of-another-system-0000000000000001", Tags: []string{"a tag that is rather long", "another one", "third", "fourth"}},
		{ID: 3, Name: "Ø", Email: "o@x.example", Open: 12345, LastActivityAt: ptr(ago(400 * 24 * time.Hour))},
	}
	for i := len(list); i < 50; i++ {
		e := list[i%3]
		e.ID, e.Name = int64(i+1), fmt.Sprintf("%s %d", e.Name, i)
		list = append(list, e)
	}
	return list
}

func peopleSamples() []sample {
	left := people()[:2]
	for i := range left {
		left[i].LeftAt = ptr(ago(time.Hour))
	}
	record := view.PersonRecord{
		Employee: people()[1], Role: "manager", JoinedAt: ago(900 * time.Hour), Leaving: ptr(now.Add(90 * time.Hour)), Assigned: 120, Completed: 40, CanChange: true,
		Assignments: []view.PersonAssignment{
			{ID: 1, CourseName: longName, Status: "needs_retry", Overdue: true, Percent: 40, Score: "62.5", Deadline: ago(time.Hour), Required: true},
			{ID: 2, CourseName: "Fire safety", Status: "completed", Percent: 100, Score: "100", Deadline: now.Add(50 * time.Hour)},
		},
		History: []view.HistoryEntry{
			{At: ago(time.Hour), Via: "platform", Action: "assignment.needs_retry", CourseName: longName},
			{At: ago(2 * time.Hour), Via: "person", Actor: "anna.berzina@baltic-freight.example", Action: "employee.changed", Detail: "Changed: name externalId."},
			{At: ago(9 * time.Hour), Via: "import", Actor: "anna@x.example", Action: "assignment.created", CourseName: "Fire safety"},
		},
	}
	former := view.PersonRecord{Employee: left[0], Role: "employee", JoinedAt: ago(900 * time.Hour), CanChange: true}
	return []sample{
		{"person", view.PersonPage(longShell("/cabinet/employees/2"), record)},
		{"person-left", view.PersonPage(shell("/cabinet/employees/1"), former)},
		{"person-new", view.PersonFormPage(shell("/cabinet/employees/new"), view.PersonForm{Role: "employee"})},
		{"person-edit", view.PersonFormPage(shell("/cabinet/employees/1/edit"), view.PersonForm{ID: 1, Title: "Anna", Name: "Anna", Email: "x", Role: "king", Errors: view.Errors{"email": "Enter an address.", "externalId": "Taken."}})},
		{"person-offboard", view.OffboardPage(shell("/cabinet/employees/1/offboard"), view.OffboardForm{Employee: people()[0], When: "date", Errors: view.Errors{"date": "Enter a date."}})},
		{"person-erase", view.ConfirmPage(shell("/cabinet/employees/1/erase"), view.EmployeeErase(people()[0], 3, 1, 12))},
		{"person-bring-back", view.ConfirmPage(shell("/cabinet/employees/1/bring-back"), view.EmployeeBringBack(left[0]))},
		{"person-keep", view.ConfirmPage(shell("/cabinet/employees/1/keep"), view.EmployeeKeep(people()[0]))},
		{"import", view.ImportPage(shell("/cabinet/employees/import"), view.ImportForm{Errors: view.Errors{"file": "The file has no rows."}})},
		{"import-columns", view.ImportColumnsPage(longShell("/cabinet/employees/import/1"), view.Import{ID: 1, FileName: longName + ".xlsx", Total: 50_000, Columns: []view.ImportColumn{
			{Number: 0, Head: "Name", Field: "name", Samples: []string{longName, "Ø"}}, {Number: 1, Field: ""}, {Number: 2, Head: "E-mail", Field: "email"},
		}})},
		{"import-check", view.ImportCheckPage(shell("/cabinet/employees/import/1/check"), view.ImportCheck{ID: 1, FileName: "people.csv", New: 212, Changed: 40, Same: 7, Failed: 3, CanChange: true,
			Assigns: true, Assign: 36, Already: 2, Missing: 500, MissingPeople: []view.PersonOption{{ID: 1, Name: longName, Email: "long@x.example"}},
			Problems: []view.ImportProblem{{Number: 6, Row: 7, Problem: "email must contain one @.", Cells: []view.ImportCell{{Column: 0, Field: "name", Value: longName}, {Column: 2, Field: "email"}}}},
			Changes:  []view.ImportChange{{PersonID: 1, Name: longName, Field: "Name", Before: longName, After: "Anna"}}})},
		{"import-running", view.ImportResultPage(shell("/cabinet/employees/import/1/result"), view.ImportResult{ID: 1, FileName: "people.csv", Total: 50_000, Done: 12_500, StartedBy: "anna@x.example"})},
		{"import-done", view.ImportResultPage(shell("/cabinet/employees/import/1/result"), view.ImportResult{ID: 1, FileName: "people.csv", Total: 10, Done: 10, Failed: 1, FinishedAt: ptr(now), Problems: []view.ImportProblem{{Row: 7, Problem: "email must contain one @."}}})},
		{"people-tag", view.PeopleBulkPage(shell("/cabinet/employees/bulk"), view.PeopleBulk{Act: "tag", People: 36, All: true, Known: []string{"warehouse"}, Errors: view.Errors{"tags": "Enter at least one tag."}})},
		{"people-offboard", view.PeopleBulkPage(shell("/cabinet/employees/bulk"), view.PeopleBulk{Act: "offboard", People: 1200, Open: 52, When: "now", IDs: []string{"1", "2"}})},
		{"people-none", view.PeopleBulkPage(shell("/cabinet/employees/bulk"), view.PeopleBulk{Act: "untag"})},
		{"employees", view.EmployeesPage(longShell("/cabinet/employees"), view.EmployeeList{
			Employees: people(), Total: 100_000, CanChange: true, Pager: view.Pager{Next: "/cabinet/employees?after=50"},
		})},
		{"employees-none", view.EmployeesPage(shell("/cabinet/employees"), view.EmployeeList{CanChange: true})},
		{"employees-left", view.EmployeesPage(shell("/cabinet/employees?show=left"), view.EmployeeList{
			Filter: view.EmployeeFilter{Show: "left", Tag: "warehouse"}, Employees: left, Total: 2,
		})},
		{"employees-no-match", view.EmployeesPage(shell("/cabinet/employees?q=x"), view.EmployeeList{Filter: view.EmployeeFilter{Search: "x"}})},
	}
}
