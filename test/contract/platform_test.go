package contract_test

import (
	"fmt"
	"strings"
	"testing"
)

// platformCourses creates, changes, grants and withdraws courses.
func platformCourses(t *testing.T, s *suite) {
	f := s.newCompany(t)
	platform := s.platformCaller()
	f.vars["key"] = percentEncode(fmt.Sprintf("курс/%d ?#%%", f.number))
	many := func(n int) string { return `["` + strings.Repeat(`m","`, n-1) + `m"]` }
	const put = "PUT /courses/<key>"
	a := f.sendRow(t, platform, row{do: put, body: `{"name":"Safety"}`, has: `{"status":"created"}`})
	f.vars["id"] = a.str("courseId")
	for _, r := range []row{
		{do: put, body: `{"name":"Safety"}`, has: `{"courseId":<id>,"status":"unchanged"}`},
		{name: "defaults", do: put, body: `{"name":" Safety ","isAssessment":false,"passMark":80.00,"attempts":3,"modules":[],"x":1}`, has: `{"courseId":<id>,"status":"unchanged"}`},
		{do: put, body: `{"name":"Safety","modules":["One","Two"]}`, has: `{"status":"updated"}`},
		{do: put, body: `{"name":"Safety","modules":["Two","One"]}`, has: `{"status":"updated"}`},
		{do: put, body: `{"name":"Safety II","isAssessment":true,"passMark":66.67,"attempts":0,"modules":` + many(500) + `}`, has: `{"courseId":<id>,"status":"updated"}`},
		{do: put, body: `{"name":"Safety","modules":` + many(501) + `}`, status: 400, code: "invalid_request", fields: "modules"},
		{do: put, body: `{"name":"","passMark":101,"attempts":-1}`, status: 400, code: "invalid_request", fields: "passMark name attempts"},
		{do: put, body: `{"name":null}`, status: 400, code: "invalid_request", fields: "name"},
		{do: put, body: `{"name":"x","isAssessment":"yes","passMark":"80","attempts":1.5,"modules":"One"}`, status: 400, code: "invalid_request", fields: "isAssessment passMark attempts modules"},
		{do: put, body: `{"name":"x","passMark":80.001}`, status: 400, code: "invalid_request", fields: "passMark"},
		{do: put, body: `{"name":"x","attempts":1001}`, status: 400, code: "invalid_request", fields: "attempts"},
		{do: put, body: `{"name":"x","modules":["a",""]}`, status: 400, code: "invalid_request", fields: "modules"},
		{do: put, body: `{"name":` + quote(wideText(256)) + `}`, status: 400, code: "invalid_request", fields: "name"},
		{do: "PUT /courses/%2E%2E", body: `{"name":"x"}`, status: 400, code: "invalid_request", fields: "externalId"},
		{do: "PUT /courses/%20x", body: `{"name":"x"}`, status: 400, code: "invalid_request", fields: "externalId"},
		{do: "PUT /courses/<key>/companies/<company>", has: `{"courseId":<id>,"companyId":<company>,"granted":true}`},
		{do: "PUT /courses/<key>/companies/<company>", has: `{"courseId":<id>,"companyId":<company>,"granted":true}`},
		{name: "a body is not needed and not minded", do: "PUT /courses/<key>/companies/<company>", body: `nonsense`, has: `{"granted":true}`},
		{do: "PUT /courses/nothing/companies/<company>", status: 404, code: "course_not_found"},
		{do: "PUT /courses/<key>/companies/999999999", status: 404, code: "company_not_found"},
		{do: "PUT /courses/<key>/companies/x", status: 400, code: "invalid_request", fields: "companyId"},
		{do: "DELETE /courses/<key>/companies/999999999", status: 404, code: "company_not_found"},
		{do: "DELETE /courses/<key>/companies/<company>", has: `{"courseId":<id>,"companyId":<company>,"granted":false}`},
		{do: "DELETE /courses/<key>/companies/<company>", has: `{"courseId":<id>,"companyId":<company>,"granted":false}`},
	} {
		f.sendRow(t, platform, r)
	}
}

// platformCompanies lists the companies page by page.
func platformCompanies(t *testing.T, s *suite) {
	f := s.newCompany(t)
	platform := s.platformCaller()
	found := false
	for page, pages := 1, 1; page <= pages; page++ {
		a := platform.send(t, "GET", fmt.Sprintf("/companies?limit=3&page=%d", page), "")
		if _, err := fmt.Sscan(a.str("pagination.pages"), &pages); err != nil || len(a.ids()) > 3 {
			t.Fatalf("%v in %s", err, a.text)
		}
		for i, id := range a.ids() {
			if id == f.vars["company"] {
				found = true
				wantData(t, "this company", fmt.Sprintf(`{"name":"Company %d","timeZone":"UTC","suspended":false}`, f.number), a.list("items")[i])
			}
		}
	}
	if !found {
		t.Error("the company is on no page")
	}
	for _, r := range []row{
		{do: "GET /companies?page=1000000", has: `{"items":[],"pagination":{"page":1000000,"limit":50}}`},
		{do: "GET /companies?limit=0", status: 400, code: "invalid_request", fields: "limit"},
		{do: "GET /companies?limit=501", status: 400, code: "invalid_request", fields: "limit"},
		{do: "GET /companies?page=0", status: 400, code: "invalid_request", fields: "page"},
	} {
		f.sendRow(t, platform, r)
	}
}
