package cabinet_test

import (
	"encoding/csv"
	"net/http"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

func TestEmployeeList(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		v.get(view.PathEmployees).wantStatus(http.StatusOK).wantText("No employees yet", "Add employee")
		_, secret := v.createToken("HR sync")
		f.provision(secret, 1, 60)
		for _, n := range []string{"7", "8"} {
			if got := f.callAPI(secret, http.MethodPatch, "/employees/HR-"+n, map[string]any{"tags": []string{"warehouse", "Ночь"}}); got != http.StatusOK {
				f.Fatalf("patch: %d", got)
			}
		}
		if got := f.callAPI(secret, http.MethodPatch, "/employees/HR-60", map[string]any{"active": false}); got != http.StatusOK {
			f.Fatalf("offboard: %d", got)
		}
		first := v.get(view.PathEmployees).wantStatus(http.StatusOK).wantText("59 employees", "Person 1", "p50@baltic.example", "HR-7", "warehouse").wantNoText("Person 51", "Person 60")
		next := first.find(`href="(` + view.PathEmployees + `\?after=\d+)"`)
		v.get(next).wantStatus(http.StatusOK).wantText("Person 51", "Person 59").wantNoText("Person 50<", "Person 60")
		v.get(view.PathEmployees+"?show=left").wantStatus(http.StatusOK).wantText("1 employee", "Person 60").wantNoText("Person 59")
		v.get(view.PathEmployees + "?show=overdue").wantStatus(http.StatusOK).wantText("Nobody is overdue")
		v.get(view.PathEmployees + "?show=unassigned").wantStatus(http.StatusOK).wantText("More than 50 employees")
		v.get(view.PathEmployees + "?show=nonsense").wantStatus(http.StatusOK).wantText("59 employees")
		v.get(view.PathEmployees+"?tag=warehouse").wantStatus(http.StatusOK).wantText("2 employees", "Person 7", "Person 8", "Tag: warehouse").wantNoText("Person 9")
		v.get(view.PathEmployees+"?q=P7@BALTIC").wantStatus(http.StatusOK).wantText("1 employee", "Person 7", `value="P7@BALTIC"`)
		v.get(view.PathEmployees+"?q=hr-33").wantStatus(http.StatusOK).wantText("1 employee", "Person 33")
		v.get(view.PathEmployees+"?q=nobody").wantStatus(http.StatusOK).wantText("Nobody matches", "Clear the filter")

		export := v.get(view.PathEmployeeExport + "?tag=warehouse").wantStatus(http.StatusOK)
		rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(export.raw, "\ufeff"))).ReadAll()
		if err != nil || len(rows) != 3 || rows[1][1] != "Person 7" || rows[2][5] != "warehouse; Ночь" {
			f.Errorf("the export of a tag is %v, %v", rows, err)
		}
	})
}
