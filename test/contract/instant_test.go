package contract_test

import (
	"fmt"
	"testing"
)

// instants sends date-times in every format, in bodies and in query strings.
func instants(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.provision(t, "E1")
	for i, c := range []struct{ in, out string }{
		{"2099-01-01T00:00:00Z", "2099-01-01T00:00:00+00:00"},
		{"2099-01-01T00:00:00+00:00", "2099-01-01T00:00:00+00:00"},
		{"2099-01-01T00:00:00-00:00", "2099-01-01T00:00:00+00:00"},
		{"2099-01-01T03:00:00+03:00", "2099-01-01T00:00:00+00:00"},
		{"2098-12-31T12:00:00-12:00", "2099-01-01T00:00:00+00:00"},
		{"2099-01-01T14:00:00+14:00", "2099-01-01T00:00:00+00:00"},
		{"2099-01-01T05:45:00+05:45", "2099-01-01T00:00:00+00:00"},
		{"2099-01-01T00:00:00.0Z", "2099-01-01T00:00:00+00:00"},
		{"2099-01-01T00:00:00.123Z", "2099-01-01T00:00:00.123+00:00"},
		{"2099-01-01T00:00:00.123456Z", "2099-01-01T00:00:00.123+00:00"},
		{"2099-01-01T00:00:00.123999999+00:00", "2099-01-01T00:00:00.123+00:00"},
		{"2096-02-29T23:59:59Z", "2096-02-29T23:59:59+00:00"},
		{"1970-01-01T00:00:00Z", "1970-01-01T00:00:00+00:00"},
		{"1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999+00:00"},
		{"9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999+00:00"},
	} {
		for range 2 { // the second time it must be found to be the same
			a := f.send(t, "POST", "/assignments", fmt.Sprintf(`{"employeeExternalId":"E1","courseId":%d,"externalId":"I%d","deadline":%q}`, f.course, i, c.in))
			if a.status != 200 || a.str("deadline") != c.out {
				t.Errorf("deadline %s: %d %s, want %s", c.in, a.status, a.text, c.out)
			}
		}
		if got := f.send(t, "GET", fmt.Sprintf("/assignments/by-external-id/I%d", i), "").str("deadline"); got != c.out {
			t.Errorf("deadline %s is kept as %s, want %s", c.in, got, c.out)
		}
	}
	for _, in := range []string{
		`"2099-01-01"`, `"2099-01-01T00:00:00"`, `"2099-01-01T00:00Z"`, `"2099-01-01 00:00:00Z"`, `"2099-01-01T00:00:00 +03:00"`, `"20990101T000000Z"`,
		`"2099-1-1T00:00:00Z"`, `"2099-13-01T00:00:00Z"`, `"2099-02-30T00:00:00Z"`, `"2099-02-29T00:00:00Z"`, `"2099-01-01T24:00:00Z"`, `"2099-01-01T00:60:00Z"`,
		`"2099-01-01T0:00:00Z"`, `"2099-01-01T00:00:00+0300"`, `"2099-01-01T00:00:00+03"`, `"2099-01-01T00:00:00+25:00"`, `"2099-01-01T00:00:00+24:00"`, `"2099-01-01T00:00:00+00:60"`, `"2099-01-01T12:00:60Z"`, `"2099-01-01T00:00:00,5Z"`,
		`"2099-01-01T00:00:00.Z"`, `""`, `" "`, `" 2099-01-01T00:00:00Z"`, `"2099-01-01T00:00:00Z\n"`, `"now"`, `"1700000000"`, `"+12099-01-01T00:00:00Z"`,
		`"2099-W01-1T00:00:00Z"`, `"Thu, 01 Jan 2099 00:00:00 GMT"`, `"2099-01-01T00:00:00ZZ"`, `"\u0000"`, `1700000000`, `1700000000000`, `true`, `{}`, `[]`,
	} {
		f.sendRow(t, f.caller, row{do: assignPath, body: `{"employeeExternalId":"E1","courseId":<course>,"externalId":"bad","deadline":` + in + `}`,
			status: 400, code: "invalid_request", fields: "deadline"})
	}
	a := f.send(t, "POST", "/assignments", fmt.Sprintf(`{"employeeExternalId":"E1","courseId":%d,"externalId":"bad","deadline":"2099-01-01"}`, f.course))
	a.wantFailure(t, "the right form is shown", 400, "invalid_request", "2026-11-14T09:30:00")
	a = f.send(t, "POST", "/assignments", fmt.Sprintf(`{"employeeExternalId":"E1","courseId":%d,"externalId":"bad","deadline":"2099-02-29T00:00:00Z"}`, f.course))
	a.wantFailure(t, "a day that is not in the calendar", 400, "invalid_request", "no such day")
	f.sendRow(t, f.caller, row{do: "GET /assignments/by-external-id/bad", status: 404, code: "assignment_not_found"})
	for _, since := range []string{
		"2020-01-01T00:00:00Z", "2020-01-01T00:00:00%2B03:00", "2020-01-01T00:00:00+03:00", "2020-01-01T00:00:00%2003:00", "2020-01-01T00:00:00-03:00",
		"2020-01-01T00%3A00%3A00.5Z", "2020-01-01T00:00:00.123456789+05:30",
	} {
		f.sendRow(t, f.caller, row{do: "GET /assignments?limit=1&updatedSince=" + since, has: `{"pagination":{"total":15}}`})
	}
	for _, since := range []string{
		"2020-01-01", "2020-01-01T00:00:00", "2020-01-01T00:00Z", "2020-01-01+00:00:00Z", "", "yesterday", "1577836800", "2020-01-01T00:00:00++03:00", "2020-13-01T00:00:00Z",
	} {
		f.sendRow(t, f.caller, row{do: "GET /assignments?updatedSince=" + since, status: 400, code: "invalid_request", fields: "updatedSince"})
	}
}
