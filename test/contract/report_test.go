package contract_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// reportFiles downloads every report; their contents are tested next to their code.
func reportFiles(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.provision(t, "=1+1")
	f.assign(t, "=1+1", f.course, "A1")
	const spreadsheet = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	for path, kind := range map[string]string{
		"employees.csv": "text/csv; charset=utf-8", "employees.xlsx": spreadsheet, "assignments.csv": "text/csv; charset=utf-8", "assignments.xlsx": spreadsheet,
	} {
		a := f.send(t, "GET", "/reports/"+path, "")
		name, ending, _ := strings.Cut(path, ".")
		file := fmt.Sprintf(`attachment; filename="%s-%s.%s"`, name, time.Now().UTC().Format(time.DateOnly), ending)
		if a.status != 200 || a.header.Get("Content-Type") != kind || a.header.Get("Content-Disposition") != file || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", path, a.status, a.header)
		}
		if ending == "csv" && (!strings.HasPrefix(a.text, "id,externalId,") || strings.Count(a.text, "\r\n") != 2 || !strings.Contains(a.text, ",'=1+1,")) {
			t.Errorf("%s: %q", path, a.text)
		}
	}
	if a := f.send(t, "GET", "/reports/assignments.csv?bom=true&status=completed", ""); !strings.HasPrefix(a.text, "\ufeffid,") || strings.Count(a.text, "\r\n") != 1 {
		t.Errorf("with a byte order mark: %q", a.text)
	}
	f.sendRows(t, []row{
		{do: "GET /reports/assignments.csv?status=overdue", status: 400, code: "invalid_request", fields: "status"},
		{do: "GET /reports/assignments.xlsx?status=", status: 400, code: "invalid_request", fields: "status"},
		{do: "GET /reports/employees.csv?bom=maybe", status: 400, code: "invalid_request", fields: "bom"},
	})
}
