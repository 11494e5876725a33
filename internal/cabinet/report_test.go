package cabinet_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestReportsAnswerTheirQuestions(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v, l := f.administrator(), f.newLearners(3)
		for _, kind := range []string{"overdue", "courses", "tags", "compliance", "matrix"} {
			v.get(view.PathReport(kind)).wantStatus(http.StatusOK)
		}
		l.assign(1, time.Now().Add(-10*24*time.Hour))
		done := l.assign(2, time.Now().Add(30*24*time.Hour))
		l.attempt(done, "k", 90_00)
		if _, err := l.store.PatchEmployee(f.Context(), l.caller, "HR-1", domain.EmployeePatch{Tags: &[]string{"warehouse"}}); err != nil {
			f.Fatal(err)
		}

		v.get(view.PathReports).wantStatus(http.StatusOK).wantText("Who is overdue?", "Were we compliant on a date?", "People and courses")
		v.get(view.PathReport("overdue")).wantText("1 overdue assignment", "8 to 30 days", "Person 1", "10 days")
		v.get(view.PathReport("overdue") + "?tag=nobody").wantText("Nothing matches")
		v.get(view.PathReport("courses")).wantText("Workplace safety", "50%")
		v.get(view.PathReport("courses")+"?tag=warehouse").wantText("Workplace safety", "0%")
		v.get(view.PathReport("tags")).wantText("warehouse", "People with several tags count in each of them.")
		v.get(view.PathReport("matrix")).wantText("Person 1", "Overdue", "Person 2", "Completed", "Person 3", "–")
		v.get(view.PathReport("matrix")+"?q=person+2").wantText("Person 2", "Only: search “person 2”.").wantNoText("p2@baltic.example</span>")
		v.get(view.PathReport("overdue") + "?tag=warehouse&required=no&q=person").wantText("Only: Tag warehouse, Optional, search “person”.")
		v.get(view.PathReport("overdue")).wantNoText("Only:", "This is one page of the list.")
		v.get(view.PathReport("compliance")+"?on=2001-01-01").wantText("Nothing was due", "1 Jan 2001")
		v.get(view.PathReport("compliance") + "?on=never").wantStatus(http.StatusOK)

		for kind, want := range map[string]string{
			"overdue": "Person 1", "courses": "Workplace safety,2,0,1,0,0,1,50", "tags": "warehouse,1,1,0,0,0,0,1,0", "compliance": "courseId",
			"matrix": "p1@baltic.example,HR-1,\"assigned, overdue\"",
		} {
			file := v.get(view.PathReport(kind, "export")).wantStatus(http.StatusOK)
			if !strings.Contains(file.text, want) {
				f.Errorf("the %s file lacks %q: %s", kind, want, file.text)
			}
			if file := v.get(view.PathReport(kind, "export") + "?format=xlsx").wantStatus(http.StatusOK); !strings.HasPrefix(file.text, "PK") {
				f.Errorf("the %s file is no XLSX", kind)
			}
		}
		v.get(view.PathReport("person")+"?q=person+2").wantText("Person 2", "Open record")
		record := view.PathEmployee(done.EmployeeID, "record")
		v.get(record).wantStatus(http.StatusOK).wantText("Training record", "Workplace safety", "Completed", "100%")
		if file := v.get(record + "/export").wantStatus(http.StatusOK); !strings.Contains(file.text, "Workplace safety") || strings.Contains(file.text, "Person 1") {
			f.Errorf("the file of a person's record: %s", file.text)
		}
		v.addPerson("Person 2", "namesake@baltic.example")
		v.get(view.PathReport("matrix")).wantText("p2@baltic.example</span>", "namesake@baltic.example</span>").wantNoText("p1@baltic.example</span>")
	})
}
