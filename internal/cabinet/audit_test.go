package cabinet_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

func TestAuditLog(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		path, secret := v.createToken("HR sync")
		f.provision(secret, 1, 60)
		v.get(view.PathAudit).wantStatus(http.StatusOK).wantText("More than 50 entries")
		v.get(view.PathAudit+"?action=token.&actor=person").wantStatus(http.StatusOK).wantText("Token created", admin, path, "127.0.0.1").wantNoText("Person 7<")
		v.get(view.PathAudit + "?actor=token").wantStatus(http.StatusOK).wantText("Person 60").wantNoText("Token created")
		v.get(view.PathAudit + "?to=2001-01-01T00:00").wantStatus(http.StatusOK).wantText("Nothing matches")
		v.get(view.PathAudit + "?from=2001-01-01T00:00&action=token.").wantStatus(http.StatusOK).wantText("Token created")
		v.get(view.PathAudit + "?from=soon").wantStatus(http.StatusOK).wantText("Enter a date and time")

		v.get(view.PathAudit+"?q=HR-7").wantStatus(http.StatusOK).wantText("1 entry", "Person 7", `value="HR-7"`).wantNoText("Person 8")
		v.get(view.PathAudit + "?q=HR+sync").wantStatus(http.StatusOK).wantText("More than 50 entries").wantNoText("Token created")
		v.get(view.PathAudit+"?q="+admin+"&action=token.").wantStatus(http.StatusOK).wantText("1 entry", "Token created")
		v.get(view.PathAudit + "?q=nobody").wantStatus(http.StatusOK).wantText("Nothing matches")
		if rows := v.get(view.PathAuditExport + "?q=HR-7").wantStatus(http.StatusOK).raw; strings.Count(rows, "Person 7") != 1 || strings.Contains(rows, "Person 8") {
			f.Errorf("the export of a search is %q", rows)
		}

		next := v.get(view.PathAudit + "?actor=token").find(`href="(` + view.PathAudit + `\?[^"]*after=[^"]+)"`)
		v.get(next).wantStatus(http.StatusOK).wantText("Person 1", "Person 10").wantNoText("Person 60", "Person 11")

		export := v.get(view.PathAuditExport + "?actor=token").wantStatus(http.StatusOK)
		if got := export.header.Get("Content-Disposition"); !strings.HasPrefix(got, `attachment; filename="audit-`) {
			f.Errorf("the export is %q", got)
		}
		rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(export.raw, "\ufeff"))).ReadAll()
		if err != nil || len(rows) != 61 {
			f.Fatalf("%d rows, %v", len(rows), err)
		}
		if text := fmt.Sprint(rows[1]); !strings.Contains(text, "Person 60") || !strings.Contains(text, "employee.") {
			f.Errorf("the first row is %s", text)
		}
		v.get(view.PathAuditExport + "?from=soon").wantRedirect(view.PathAudit + "?from=soon")
	})
}

func TestErasedPeopleLeaveTheAuditLog(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		_, secret := v.createToken("HR sync")
		f.provision(secret, 1, 1)
		v.get(view.PathAudit).wantStatus(http.StatusOK).wantText("Person 1")
		if got := f.callAPI(secret, http.MethodDelete, "/employees/HR-1", nil); got != http.StatusOK {
			f.Fatalf("delete: %d", got)
		}
		v.get(view.PathAudit).wantStatus(http.StatusOK).wantText("Erased employee").wantNoText("Person 1", "p1@baltic.example")
		v.get(view.PathAudit + "?q=HR-1").wantStatus(http.StatusOK).wantText("Nothing matches")
	})
}
