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
	return []sample{
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
