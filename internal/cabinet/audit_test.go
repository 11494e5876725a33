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
	each(t, func(o office) {
		v := o.enter()
		path, secret := v.createToken("HR sync")
		o.hire(secret, 1, 60)
		v.get(view.PathAudit).is(http.StatusOK).has("More than 50 entries")
		v.get(view.PathAudit+"?action=token.&actor=person").is(http.StatusOK).has("Token created", admin, path, "127.0.0.1").lacks("Person 7<")
		v.get(view.PathAudit + "?actor=token").is(http.StatusOK).has("Person 60").lacks("Token created")
		v.get(view.PathAudit + "?to=2001-01-01T00:00").is(http.StatusOK).has("Nothing matches")
		v.get(view.PathAudit + "?from=2001-01-01T00:00&action=token.").is(http.StatusOK).has("Token created")
		v.get(view.PathAudit + "?from=soon").is(http.StatusOK).has("Enter a date and time")

		v.get(view.PathAudit+"?q=HR-7").is(http.StatusOK).has("1 entry", "Person 7", `value="HR-7"`).lacks("Person 8")
		v.get(view.PathAudit + "?q=HR+sync").is(http.StatusOK).has("More than 50 entries").lacks("Token created")
		v.get(view.PathAudit+"?q="+admin+"&action=token.").is(http.StatusOK).has("1 entry", "Token created")
		v.get(view.PathAudit + "?q=nobody").is(http.StatusOK).has("Nothing matches")
		if rows := v.get(view.PathAuditExport + "?q=HR-7").is(http.StatusOK).raw; strings.Count(rows, "Person 7") != 1 || strings.Contains(rows, "Person 8") {
			o.Errorf("the export of a search is %q", rows)
		}

		next := v.get(view.PathAudit + "?actor=token").find(`href="(` + view.PathAudit + `\?[^"]*after=[^"]+)"`)
		v.get(next).is(http.StatusOK).has("Person 1", "Person 10").lacks("Person 60", "Person 11")

		export := v.get(view.PathAuditExport + "?actor=token").is(http.StatusOK)
		if got := export.header.Get("Content-Disposition"); !strings.HasPrefix(got, `attachment; filename="audit-`) {
			o.Errorf("the export is %q", got)
		}
		rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(export.raw, "\ufeff"))).ReadAll()
		if err != nil || len(rows) != 61 {
			o.Fatalf("%d rows, %v", len(rows), err)
		}
		if text := fmt.Sprint(rows[1]); !strings.Contains(text, "Person 60") || !strings.Contains(text, "employee.") {
			o.Errorf("the first row is %s", text)
		}
		v.get(view.PathAuditExport + "?from=soon").leads(view.PathAudit + "?from=soon")
	})
}

func TestErasedPeopleLeaveTheAuditLog(t *testing.T) {
	t.Parallel()
	each(t, func(o office) {
		v := o.enter()
		_, secret := v.createToken("HR sync")
		o.hire(secret, 1, 1)
		v.get(view.PathAudit).is(http.StatusOK).has("Person 1")
		if got := o.call(secret, http.MethodDelete, "/employees/HR-1", nil); got != http.StatusOK {
			o.Fatalf("delete: %d", got)
		}
		v.get(view.PathAudit).is(http.StatusOK).has("Erased employee").lacks("Person 1", "p1@baltic.example")
		v.get(view.PathAudit + "?q=HR-1").is(http.StatusOK).has("Nothing matches")
	})
}
