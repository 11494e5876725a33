package publicapi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/publicapi"
)

func at(hours int) *time.Time {
	t := now.Add(time.Duration(hours) * time.Hour)
	return &t
}

func points(p domain.Points) *domain.Points { return &p }

var (
	passed = domain.Assignment{
		CompanyID: 12, ID: 88120, ExternalID: "ASG-1", EmployeeExternalID: "HR-1042", EmployeeEmail: "anna@northwind.example",
		EmployeeName: "Anna", CourseID: 310, CourseName: "Forklift safety", IsRequired: true,
		Rule:       domain.CourseRule{IsAssessment: true, PassMark: 80_00, AllowedAttempts: 3},
		AssignedAt: *at(-10), Deadline: *at(-1), UpdatedAt: now.Add(-time.Minute),
		Progress: domain.Progress{
			Status: domain.StatusCompleted, Percent: 100_00, Score: points(92_50), Attempts: 1,
			StartedAt: at(-9), EndedAt: at(-8), CompletedAt: at(-8), LastActivityAt: at(-8),
		},
	}
	fresh = domain.Assignment{
		CompanyID: 12, ID: 88121, ExternalID: "ASG-2", EmployeeEmail: "bo@northwind.example", CourseID: 311, CourseName: "Basics",
		AssignedAt: *at(-10), Deadline: *at(-1), UpdatedAt: now, Progress: domain.Progress{Status: domain.StatusAssigned},
	}
)

const passedJSON = `{"id":88120,"externalId":"ASG-1","employeeExternalId":"HR-1042","employeeEmail":"anna@northwind.example",` +
	`"courseId":310,"courseName":"Forklift safety","status":"completed","statusCategory":"completed","isOverdue":false,` +
	`"completionPercent":100,"score":92.5,"numberOfAttempts":1,"isRequired":true,"assignedAt":"2026-11-13T23:30:00+00:00",` +
	`"deadline":"2026-11-14T08:30:00+00:00","startedAt":"2026-11-14T00:30:00+00:00","completedAt":"2026-11-14T01:30:00+00:00",` +
	`"lastActivityAt":"2026-11-14T01:30:00+00:00"}`

const freshJSON = `{"id":88121,"externalId":"ASG-2","employeeExternalId":"","employeeEmail":"bo@northwind.example",` +
	`"courseId":311,"courseName":"Basics","status":"assigned","statusCategory":"overdue","isOverdue":true,` +
	`"completionPercent":0,"score":null,"numberOfAttempts":0,"isRequired":false,"assignedAt":"2026-11-13T23:30:00+00:00",` +
	`"deadline":"2026-11-14T08:30:00+00:00","startedAt":null,"completedAt":null,"lastActivityAt":"2026-11-13T23:30:00+00:00"}`

func TestReadAssignment(t *testing.T) {
	t.Parallel()
	f := &fake{assignment: passed}
	h := newAPI(t, f, publicapi.Options{})
	const progress = `{"id":88120,"completionPercent":100,"lastActivityAt":"2026-11-14T01:30:00+00:00","status":"completed","statusCategory":"completed","isOverdue":false}`
	const results = `{"id":88120,"score":92.5,"numberOfAttempts":1,"status":"completed","statusCategory":"completed","completedAt":"2026-11-14T01:30:00+00:00",` +
		`"resultSummary":{"completionState":"success","isPassed":true,"finalScore":92.5,"summary":"Passed with 92.5 on attempt 1 of 3."}}`
	for path, key := range map[string]any{"/assignments/88120": int64(88120), "/assignments/by-external-id/ASG%2F1": "ASG/1"} {
		for after, want := range map[string]string{"": passedJSON, "/progress": progress, "/results": results} {
			wantData(t, h.ask(allToken, "GET", path+after, ""), want)
			if f.called[0] != key {
				t.Errorf("asked for %v", f.called)
			}
		}
	}
	f.assignment = fresh
	wantData(t, h.ask(allToken, "GET", "/assignments/88121", ""), freshJSON)
	wantData(t, h.ask(allToken, "GET", "/assignments/88121/results", ""),
		`{"id":88121,"score":null,"numberOfAttempts":0,"status":"assigned","statusCategory":"overdue","completedAt":null,`+
			`"resultSummary":{"completionState":"not_started","isPassed":false,"finalScore":null,"summary":"Not started yet."}}`)
	f.err = domain.ErrAssignmentWrongCompany
	if rec := h.ask(allToken, "GET", "/assignments/1/progress", ""); rec.Code != 403 || failureOf(t, rec).Code != "wrong_company" {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	f := &fake{}
	h := newAPI(t, f, publicapi.Options{})
	wantData(t, h.ask(allToken, "DELETE", "/assignments/88120", ""), `{"id":88120,"revoked":true}`)
	f.err = domain.ErrAssignmentNotFound
	for _, id := range []string{"1", "0", "-5"} {
		if rec := h.ask(allToken, "DELETE", "/assignments/"+id, ""); rec.Code != 404 {
			t.Errorf("%s: %d %s", id, rec.Code, rec.Body)
		}
	}
}

func TestCreateAssignment(t *testing.T) {
	t.Parallel()
	yes := true
	for _, c := range []struct {
		body string
		want domain.NewAssignment
	}{
		{validAssignment, domain.NewAssignment{EmployeeExternalID: "HR-1", CourseID: 310, ExternalID: "A-1"}},
		{`{"employeeExternalId":"HR-1","courseId":310.0,"externalId":"A-1","deadline":null}`, domain.NewAssignment{EmployeeExternalID: "HR-1", CourseID: 310, ExternalID: "A-1"}},
		{
			`{"employeeExternalId":"HR-1","courseId":3.1e2,"externalId":"A-1","deadline":"2026-11-14T12:30:00+03:00","isRequired":true,"x":1}`,
			domain.NewAssignment{EmployeeExternalID: "HR-1", CourseID: 310, ExternalID: "A-1", Deadline: at(0), IsRequired: &yes},
		},
	} {
		f := &fake{assignment: fresh}
		rec := newAPI(t, f, publicapi.Options{}).ask(allToken, "POST", "/assignments", c.body)
		wantData(t, rec, `{"id":88121,"externalId":"ASG-2","status":"assigned","statusCategory":"overdue","isOverdue":true,`+
			`"assignedAt":"2026-11-13T23:30:00+00:00","deadline":"2026-11-14T08:30:00+00:00"}`)
		if diff := cmp.Diff([]any{c.want}, f.called); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.body, diff)
		}
	}
}

func TestCreateAssignmentRefuses(t *testing.T) {
	t.Parallel()
	f := &fake{}
	h := newAPI(t, f, publicapi.Options{})
	for body, fields := range map[string]string{
		`{}`: "employeeExternalId courseId externalId",
		`{"employeeExternalId":1,"courseId":"310","externalId":true,"deadline":5,"isRequired":"yes"}`:              "employeeExternalId courseId externalId deadline isRequired",
		`{"employeeExternalId":"a","courseId":null,"externalId":"b"}`:                                              "courseId",
		`{"employeeExternalId":"a","courseId":310.5,"externalId":"b"}`:                                             "courseId",
		`{"employeeExternalId":"a","courseId":1e99,"externalId":"b"}`:                                              "courseId",
		`{"employeeExternalId":"a","courseId":99999999999999999999999,"externalId":"b"}`:                           "courseId",
		`{"employeeExternalId":"a","courseId":1,"externalId":"b","deadline":"2026-12-15"}`:                         "deadline",
		`{"employeeExternalId":"a","courseId":1,"externalId":"b","deadline":"2026-12-15T23:59:59"}`:                "deadline",
		`{"employeeExternalId":"a","courseId":1,"externalId":"b","isRequired":null}`:                               "isRequired",
		`{"employeeExternalId":" a","courseId":1,"externalId":"..","isRequired":null}`:                             "isRequired employeeExternalId externalId",
		`{"employeeExternalId":"a","courseId":1,"externalId":"b","deadline":"2026-12-15T23:59:59Z","deadline":""}`: "deadline",
	} {
		rec := h.ask(allToken, "POST", "/assignments", body)
		if got := failureOf(t, rec); rec.Code != 400 || got.fields() != fields {
			t.Errorf("%s: %d %s", body, rec.Code, rec.Body)
		}
	}
	if f.called != nil {
		t.Errorf("the service was asked for %v", f.called)
	}
}

func TestBulk(t *testing.T) {
	t.Parallel()
	f := &fake{bulk: func(items []domain.BulkItem) []domain.BulkResult {
		out := make([]domain.BulkResult, len(items))
		for i, item := range items {
			out[i] = domain.BulkResult{Assignment: domain.Assignment{ID: int64(100 + i), Progress: domain.Progress{Status: domain.StatusStarted}}, Err: item.Err}
		}
		out[1].Err = domain.ErrEmployeeNotFound
		return out
	}}
	rec := newAPI(t, f, publicapi.Options{}).ask(allToken, "POST", "/assignments/bulk",
		`{"items":[`+validAssignment+`,`+validAssignment+`,7,null,{"employeeExternalId":5,"externalId":"x"},`+validAssignment+`,`+
			strings.Replace(validAssignment, "A-1", `\udfff`, 1)+`,`+strings.Replace(validAssignment, "HR-1", "\xff", 1)+`,`+strings.Replace(validAssignment, "{", `{"note":"\ud800",`, 1)+`]}`)
	const failed = `{"index":%d,"ok":false,"status":"error","code":"%s","message":"%s"}`
	const invalid = `{"index":%d,"ok":false,"status":"error","code":"invalid_request","message":"%s: %s%s","fields":[{"field":"%[2]s","message":"%[3]s"}%[5]s]}`
	wantData(t, rec, `{"results":[`+strings.Join([]string{
		`{"index":0,"ok":true,"assignmentId":100,"status":"started"}`,
		fmt.Sprintf(failed, 1, "employee_not_found", domain.ErrEmployeeNotFound.Message),
		fmt.Sprintf(failed, 2, "invalid_request", "The item must be a JSON object, not a number."),
		fmt.Sprintf(failed, 3, "invalid_request", "The item must be a JSON object, not null."),
		fmt.Sprintf(invalid, 4, "employeeExternalId", "must be a string, not a number", "; courseId: is required", `,{"field":"courseId","message":"is required"}`),
		`{"index":5,"ok":true,"assignmentId":105,"status":"started"}`,
		fmt.Sprintf(invalid, 6, "externalId", "must not contain half of a surrogate pair; send both halves or the character itself", "", ""),
		fmt.Sprintf(invalid, 7, "employeeExternalId", "must be valid UTF-8", "", ""),
		`{"index":8,"ok":true,"assignmentId":108,"status":"started"}`,
	}, ",")+`]}`)
	one := domain.NewAssignment{EmployeeExternalID: "HR-1", CourseID: 310, ExternalID: "A-1"}
	items := f.called[0].([]domain.BulkItem)
	if diff := cmp.Diff(domain.BulkItem{New: one}, items[5], cmpopts.EquateErrors()); diff != "" || len(items) != 9 {
		t.Errorf("%d items, -want +got:\n%s", len(items), diff)
	}
}

func TestBulkSizes(t *testing.T) {
	t.Parallel()
	many := func(n int) string {
		return `{"items":[` + strings.TrimSuffix(strings.Repeat(validAssignment+",", n), ",") + `]}`
	}
	f := &fake{bulk: func(items []domain.BulkItem) []domain.BulkResult { return make([]domain.BulkResult, len(items)) }}
	h := newAPI(t, f, publicapi.Options{})
	wantData(t, h.ask(allToken, "POST", "/assignments/bulk", `{"items":[]}`), `{"results":[]}`)
	if rec := h.ask(allToken, "POST", "/assignments/bulk", many(500)); rec.Code != 200 {
		t.Errorf("500 items: %d", rec.Code)
	}
	f.called = nil
	for _, body := range []string{
		many(501), `{}`, `{"items":null}`, `{"items":{}}`, `{"items":"x"}`, `{"items":5}`,
		`{"items":[` + validAssignment + `,{"externalId":}]}`,
	} {
		if rec := h.ask(allToken, "POST", "/assignments/bulk", body); rec.Code != 400 || failureOf(t, rec).Code != "invalid_request" {
			t.Errorf("%.50s: %d %s", body, rec.Code, rec.Body)
		}
	}
	if f.called != nil {
		t.Error("the service was asked for something")
	}
}

func TestBulkFailures(t *testing.T) {
	t.Parallel()
	f := &fake{bulk: func([]domain.BulkItem) []domain.BulkResult { return nil }}
	h := newAPI(t, f, publicapi.Options{})
	if rec := h.ask(allToken, "POST", "/assignments/bulk", `{"items":[{}]}`); rec.Code != 500 {
		t.Errorf("too few results: %d %s", rec.Code, rec.Body)
	}
	f.bulk = func([]domain.BulkItem) []domain.BulkResult { return []domain.BulkResult{{Err: errors.New("disk 7")}} }
	rec := h.ask(allToken, "POST", "/assignments/bulk", `{"items":[{}]}`)
	if rec.Code != 200 || !strings.Contains(rec.Body.String(), `"code":"internal"`) || strings.Contains(rec.Body.String(), "disk") {
		t.Errorf("an item failed unexpectedly: %d %s", rec.Code, rec.Body)
	}
}

func TestListAssignments(t *testing.T) {
	t.Parallel()
	f := &fake{}
	h := newAPI(t, f, publicapi.Options{})
	f.list = domain.AssignmentPage{Page: domain.Page[domain.Assignment]{Items: []domain.Assignment{passed, fresh}, Total: 101}}
	rec := h.ask(allToken, "GET", "/assignments?status=needs_retry&courseId=310&employeeExternalId=a%26b&page=3", "")
	wantData(t, rec, `{"items":[`+passedJSON+`,`+freshJSON+`],"pagination":{"page":3,"limit":50,"total":101,"pages":3}}`)
	want := []any{
		domain.AssignmentFilter{EmployeeExternalID: "a&b", Status: domain.StatusNeedsRetry, CourseID: 310},
		domain.PageRequest{Number: 3, Limit: 50},
	}
	if diff := cmp.Diff(want, f.called); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if rec.Header().Get("X-Sync-Watermark") != "" || rec.Header().Get("Link") != "" {
		t.Errorf("%v", rec.Header())
	}
}

// A walk by update time keeps the watermark of its first page.
func TestChangesAreOrderedByTimeAndID(t *testing.T) {
	t.Parallel()
	f := &fake{list: domain.AssignmentPage{
		Page: domain.Page[domain.Assignment]{Items: []domain.Assignment{passed}, Total: 9, More: true}, Watermark: at(-2),
	}}
	h := newAPI(t, f, publicapi.Options{})
	rec := h.ask(allToken, "GET", "/assignments?updatedSince=2026-11-14T12:30:00+03:00&limit=1", "")
	filter := domain.AssignmentFilter{UpdatedSince: at(0)}
	if diff := cmp.Diff([]any{filter, domain.PageRequest{Number: 1, Limit: 1}}, f.called); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	const first = "2026-11-14T07:30:00+00:00"
	if got := rec.Header().Get("X-Sync-Watermark"); got != first {
		t.Errorf("watermark %s", got)
	}
	f.list.Watermark = at(-1)
	rec = h.ask(allToken, "GET", nextPath(t, rec), "")
	cursor := &domain.Cursor{ID: passed.ID, At: passed.UpdatedAt.UnixMilli(), Watermark: at(-2).UnixMilli(), Page: 1}
	if diff := cmp.Diff([]any{filter, domain.PageRequest{Number: 2, Limit: 1, After: cursor}}, f.called); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := rec.Header().Get("X-Sync-Watermark"); got != first {
		t.Errorf("the second page's watermark is %s", got)
	}
	after := nextPath(t, rec)
	for name, path := range map[string]string{
		"without updatedSince": "/assignments?" + after[strings.Index(after, "after="):strings.Index(after, "&limit")],
		"in another list":      "/employees?" + after[strings.Index(after, "after="):strings.Index(after, "&limit")],
	} {
		if rec := h.ask(allToken, "GET", path, ""); rec.Code != 400 || failureOf(t, rec).fields() != "after" {
			t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
		}
	}
}

func TestListCoursesAndToken(t *testing.T) {
	t.Parallel()
	f := &fake{}
	h := newAPI(t, f, publicapi.Options{})
	wantData(t, h.ask(allToken, "GET", "/courses", ""), `{"items":[]}`)
	f.courses = []domain.Course{{ID: 310, Name: "Forklift", ExternalID: "forklift", IsAssessment: true}, {ID: 342, Name: "Slice", ParentID: 310}}
	wantData(t, h.ask(allToken, "GET", "/courses", ""),
		`{"items":[{"id":310,"name":"Forklift","externalId":"forklift","isAssessment":true},{"id":342,"name":"Slice","externalId":null,"isAssessment":false}]}`)
	wantData(t, h.ask(bareToken, "GET", "/token", ""),
		`{"name":"HR sync","company":{"id":12,"name":"Northwind"},"scopes":["b2b_api"],"expiresAt":null}`)
	f.token.ExpiresAt = at(1)
	wantData(t, h.ask(writeToken, "GET", "/token", ""),
		`{"name":"HR sync","company":{"id":12,"name":"Northwind"},"scopes":["b2b_api","b2b_provision","b2b_assignment"],"expiresAt":"2026-11-14T10:30:00+00:00"}`)
}
