package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// Every code of the domain has a status here, or the outside would see a 500.
func TestEveryCodeHasAStatus(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../domain/error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Code") {
			return true
		}
		code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		codes++
		if _, known := statuses[domain.Code(code)]; !known {
			t.Errorf("%s has no status", code)
		}
		return true
	})
	if codes != len(statuses) {
		t.Errorf("%d codes, %d statuses", codes, len(statuses))
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	secret := errors.New("dial tcp 10.0.0.7: password rejected")
	internal := Failure{Status: 500, Code: "internal", Message: "Something unexpected failed. If it happens again, report the request id r-1."}
	unavailable := Failure{Status: 503, Code: "unavailable", Message: "The service is temporarily unavailable. Try again in 2 seconds.", RetryAfter: 2}
	for _, c := range []struct {
		name string
		err  error
		want Failure
	}{
		{"of the domain", domain.ErrCourseNotFound, Failure{Status: 404, Code: "course_not_found", Message: domain.ErrCourseNotFound.Message}},
		{"wrapped", fmt.Errorf("assign: %w", domain.ErrCourseNotFound), Failure{Status: 404, Code: "course_not_found", Message: domain.ErrCourseNotFound.Message}},
		{"with fields", domain.Invalid(domain.FieldError{Field: "a", Message: "b"}), Failure{Status: 400, Code: "invalid_request", Message: "a: b", Fields: []domain.FieldError{{Field: "a", Message: "b"}}}},
		{"with a cause", domain.Errorf(domain.CodeConflict, "No.").WithCause(secret), Failure{Status: 409, Code: "idempotency_conflict", Message: "No."}},
		{"of nobody", secret, internal},
		{"internal with a text", domain.Errorf(domain.CodeInternal, "the password is x"), internal},
		{"of an unknown code", domain.Errorf("brand_new", "x"), internal},
		{"too large", fmt.Errorf("read: %w", &http.MaxBytesError{Limit: 1}), Failure{Status: 413, Code: "payload_too_large", Message: "The body is larger than 1 MiB. Split it into smaller requests."}},
		{"canceled", fmt.Errorf("query: %w", context.Canceled), unavailable},
		{"out of time", fmt.Errorf("query: %w", context.DeadlineExceeded), unavailable},
		{"canceled but explained", domain.Errorf(domain.CodeConflict, "No.").WithCause(context.Canceled), Failure{Status: 409, Code: "idempotency_conflict", Message: "No."}},
		{"with a wait", WithRetryAfter(domain.Errorf(domain.CodeRateLimited, "Slow."), 2100*time.Millisecond), Failure{Status: 429, Code: "rate_limited", Message: "Slow.", RetryAfter: 3}},
		{"with no wait", WithRetryAfter(domain.Errorf(domain.CodeRateLimited, "Slow."), 0), Failure{Status: 429, Code: "rate_limited", Message: "Slow.", RetryAfter: 1}},
		{"with a usual wait", domain.Errorf(domain.CodeTooManyReports, "Many."), Failure{Status: 429, Code: "too_many_reports", Message: "Many.", RetryAfter: 5}},
		{"of broken text", domain.Errorf(domain.CodeConflict, "a\xffb"), Failure{Status: 409, Code: "idempotency_conflict", Message: "a\uFFFDb"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			info := &Info{RequestID: "r-1"}
			if diff := cmp.Diff(c.want, Describe(info, c.err)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if info.Code != c.want.Code || (info.Err != nil) != (c.want.Status >= 500) {
				t.Errorf("the log is told code %q, error %v", info.Code, info.Err)
			}
		})
	}
}

func TestDescribeItemNotesTheError(t *testing.T) {
	t.Parallel()
	info := &Info{RequestID: "r-1"}
	if problem := DescribeItem(info, domain.ErrCourseNotFound); problem.Code != v1.ErrorCode(domain.CodeCourseNotFound) || info.Err != nil {
		t.Errorf("code %q, for the log %v", problem.Code, info.Err)
	}
	broken := errors.New("disk")
	problem := DescribeItem(info, broken)
	if problem.Code != v1.ErrorCode(domain.CodeInternal) || !strings.Contains(problem.Message, "r-1") || !errors.Is(info.Err, broken) {
		t.Errorf("code %q, message %q, for the log %v", problem.Code, problem.Message, info.Err)
	}
	if info.Code != "" {
		t.Errorf("the answer is a success and has no code, got %q", info.Code)
	}
}

func TestWriteError(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	rec.Header().Set("Content-Disposition", "attachment")
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	WriteError(rec, r, domain.Invalid(domain.FieldError{Field: `na"me`, Message: "<b>\u2028"}))
	var body any
	if err := json.Unmarshal(rec.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"result": "error", "code": "invalid_request", "message": "na\"me: <b>\u2028",
		"fields": []any{map[string]any{"field": `na"me`, "message": "<b>\u2028"}},
	}
	if diff := cmp.Diff(any(want), body); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if rec.Code != 400 || rec.Header().Get("Content-Type") != "application/json; charset=utf-8" || rec.Header().Get("Content-Disposition") != "" {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
}

func TestWriteErrorHeaders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err          error
		header, want string
	}{
		{domain.ErrUnauthorized, "WWW-Authenticate", "Bearer"},
		{domain.Errorf(domain.CodeUnavailable, "Later."), "Retry-After", "2"},
		{domain.ErrCourseNotFound, "Retry-After", ""},
		{domain.ErrCourseNotFound, "WWW-Authenticate", ""},
	} {
		rec := httptest.NewRecorder()
		WriteError(rec, httptest.NewRequest(http.MethodGet, "/", nil), c.err)
		if got := rec.Header().Get(c.header); got != c.want {
			t.Errorf("%v: %s = %q, want %q", c.err, c.header, got, c.want)
		}
	}
	rec := httptest.NewRecorder()
	WriteError(rec, httptest.NewRequest(http.MethodHead, "/", nil), errNoPath)
	if rec.Body.Len() > 0 {
		t.Errorf("a HEAD got the body %s", rec.Body)
	}
}

func TestNotAllowed(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	NotAllowed(rec, httptest.NewRequest(http.MethodPut, "/", nil), "DELETE", "GET")
	if rec.Code != 405 || rec.Header().Get("Allow") != "DELETE, GET" {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
	if want := "PUT is not supported here. Use one of: DELETE, GET."; !strings.Contains(rec.Body.String(), want) {
		t.Errorf("body %s", rec.Body)
	}
}
