package cabinet_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// upload pastes a table and returns the path of the import.
func (v *visitor) upload(text string) string {
	v.Helper()
	return v.post(view.PathImport, "text", text).wantStatus(http.StatusSeeOther).header.Get("Location")
}

func TestImportFromPasteToResult(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		person := v.addPerson("Old Name", "p1@baltic.example")
		v.get(view.PathImport).wantStatus(http.StatusOK).wantText("Download a template")
		v.get(view.PathImportTemplate).wantStatus(http.StatusOK).wantText("externalId,name,email,tags,course,deadline,required")
		v.post(view.PathImport, "text", "").wantStatus(http.StatusUnprocessableEntity).wantText("Choose a file, or paste rows below.")
		v.post(view.PathImport, "text", "email").wantStatus(http.StatusUnprocessableEntity).wantText("no rows below its head")
		var table strings.Builder
		table.WriteString("Номер;ФИО;e-mail;tags\n")
		for n := 1; n <= 1200; n++ {
			fmt.Fprintf(&table, "N-%d;Человек %d;p%d@baltic.example;warehouse, night\n", n, n, n)
		}
		table.WriteString("N-2000;Nobody;nonsense;\nN-2001;=cmd;;\n")
		path := v.upload(table.String())
		v.get(path).wantStatus(http.StatusOK).wantText("1,202 rows", "Человек 1 · Человек 2 · Человек 3")
		v.get(path + "/result").wantRedirect(path)
		v.post(path, "column0", "externalId", "column1", "name", "column2", "name", "column3", "").wantStatus(http.StatusUnprocessableEntity)
		check := path + "/check"
		v.post(path, "column0", "externalId", "column1", "name", "column2", "email", "column3", "tags").wantRedirect(check).
			wantText("Import 1,200 people", "2 rows have errors", "Old Name", "Человек 1", "N-1")
		v.get(person).wantText("Old Name")
		v.post(check).wantStatus(http.StatusSeeOther)
		v.post(check).wantStatus(http.StatusConflict)
		v.waitForText(path+"/result", "2 rows could not be imported").wantText("1,202")
		v.get(path+"/failed.csv").wantStatus(http.StatusOK).wantText("N-2000,Nobody,nonsense", "'=cmd").wantNoText("Человек")
		v.get(view.PathEmployees+"?q=N-1200").wantStatus(http.StatusOK).wantText("Человек 1200", "warehouse", "night")
		v.get(person).wantText("Человек 1", "N-1", "by import", "Changed")

		again := v.upload(table.String())
		v.get(again).wantStatus(http.StatusOK).find(`(?s)name="column0".*?(value="externalId" selected)`)
		v.post(again, "column0", "externalId", "column1", "name", "column2", "email", "column3", "tags").wantRedirect(again + "/check").
			wantNoText("Import 1").wantText("1,200")

		stranger := f.visitor()
		stranger.useLink(f.createCompany("Nordic Rail", "olaf@nordic.example").SignInURL)
		for _, step := range []string{"", "/check", "/result", "/failed.csv", "/result.csv", "/missing.csv"} {
			stranger.get(path + step).wantStatus(http.StatusNotFound)
		}
		for _, step := range []string{"", "/check", "/rows"} {
			stranger.post(path + step).wantStatus(http.StatusNotFound)
		}
	})
}

// TestImportAssignsCourses imports people with courses, after an error was corrected
// on the page, and imports them again, which assigns nothing twice.
func TestImportAssignsCourses(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v, l := f.administrator(), f.newLearners(2)
		l.addCourse(domain.Course{Name: "Data protection"})
		const table = "externalId,name,email,course,due date,required\n" +
			"HR-1,Person 1,p1@baltic.example,data PROTECTION,31.12.2098,yes\n" +
			"N-1,Newcomer,new@baltic.example,Data protection,2099-01-31,no\n" +
			"N-1,Newcomer,new@baltic.example,Data protektion,72000,\n" +
			"N-2,Other,other@baltic.example,,,\n"
		path := v.upload(table)
		columns := []string{"column0", "externalId", "column1", "name", "column2", "email", "column3", "course", "column4", "deadline", "column5", "required"}
		v.post(path, "column1", "name", "column2", "email", "column4", "deadline").wantStatus(http.StatusUnprocessableEntity).wantText("Choose the column that holds the course")
		check := v.post(path, columns...).wantRedirect(path+"/check").wantText("Data protektion", "is not one of your courses", "Import 2 people, assign 2 courses",
			"Missing from the file", "p2@baltic.example")
		cell := check.find(`name="(cell3-3)"`)
		if missing := v.get(path + "/missing.csv").wantStatus(http.StatusOK); !strings.HasSuffix(missing.raw, "externalId,name,email\r\nHR-2,Person 2,p2@baltic.example\r\n") {
			f.Errorf("the people who are missing are %q", missing.raw)
		}
		v.post(path+"/rows", "row", "3", cell, "Workplace safety").wantRedirect(path + "/check").wantText("Import 2 people, assign 3 courses").wantNoText("is not one of your courses")
		v.post(path + "/check").wantStatus(http.StatusSeeOther)
		v.waitForText(path+"/result", "All rows were imported")
		result := v.get(path + "/result.csv").wantStatus(http.StatusOK)
		if want := "row,result,course,problem\r\n2,same,assigned,\r\n3,new,assigned,\r\n4,same,assigned,\r\n5,new,,\r\n"; !strings.HasSuffix(result.raw, want) {
			f.Errorf("the result is %q, want %q", result.raw, want)
		}
		v.post(path+"/rows", "row", "3", cell, "x").wantStatus(http.StatusConflict)
		v.get(path + "/missing.csv").wantRedirect(path + "/result")
		v.get(view.PathAssignments).wantText("3 assignments", "Newcomer", "Data protection")
		newcomer := v.get(view.PathEmployees + "?q=N-1").find(`href="(` + view.PathEmployees + `/\d+)"`)
		v.get(newcomer).wantText("Assigned: Data protection", "by import")

		again := v.upload(strings.ReplaceAll(table, "Data protektion", "Workplace safety"))
		v.post(again, columns...).wantRedirect(again+"/check").wantNoText("Import 2 people", "assign 1").wantText("Assigned already")
	})
}

// TestImportProblemsUseTheWordsOfThePage checks that the errors of a row name the columns
// as the page does, not as the API does.
func TestImportProblemsUseTheWordsOfThePage(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		path := v.upload("name,e-mail,course\nPerson 1,p1@baltic.example,Nonsense\n,nowhere,\n")
		v.post(path, "column0", "name", "column1", "email", "column2", "course").wantRedirect(path+"/check").
			wantText("Course \"Nonsense\" is not one of your courses", "E-mail must be a plain e-mail address", "Name must not be empty")
	})
}
