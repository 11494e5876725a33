package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// Every answer of a deprecated operation, an error too, names when it was deprecated and
// when it ends.
func TestDeprecatedOperation(t *testing.T) {
	t.Parallel()
	refuse := httpapi.File(func(context.Context, http.ResponseWriter, *httpapi.Request[int]) error { return domain.ErrUnauthorized })
	since := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	router := httpapi.NewRouter(httpapi.API[int]{
		Operations: []httpapi.Operation[int]{
			{Method: "GET", Path: "/old", Handler: refuse, Deprecated: &httpapi.Deprecation{Since: since, Sunset: since.AddDate(1, 0, 0)}},
			{Method: "GET", Path: "/new", Handler: refuse},
		},
		Admit: func(context.Context, *httpapi.Info, string, domain.Scope) (int, error) { return 0, nil },
	})
	for path, want := range map[string][2]string{"/old": {"@1798761600", "Sat, 01 Jan 2028 00:00:00 GMT"}, "/new": {}} {
		answer := httptest.NewRecorder()
		router.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		if got := [2]string{answer.Header().Get("Deprecation"), answer.Header().Get("Sunset")}; got != want || answer.Code != http.StatusUnauthorized {
			t.Errorf("%s: status %d, headers %q, want %q", path, answer.Code, got, want)
		}
	}
}

// What waits for the end of a request runs once the whole answer has been written,
// whatever it is.
func TestAfterAnswer(t *testing.T) {
	t.Parallel()
	type request = httpapi.Request[int]
	var answer *httptest.ResponseRecorder
	written := 0
	note := func(r *request) { r.AfterAnswer(func() { written = answer.Body.Len() }) }
	router := httpapi.NewRouter(httpapi.API[int]{
		Operations: []httpapi.Operation[int]{
			{Method: "GET", Path: "/data", Handler: httpapi.Answer(func(_ context.Context, r *request) (v1.Deleted, error) { note(r); return v1.Deleted{}, nil })},
			{Method: "GET", Path: "/error", Handler: httpapi.Answer(func(_ context.Context, r *request) (v1.Deleted, error) {
				note(r)
				return v1.Deleted{}, domain.ErrUnauthorized
			})},
			{Method: "GET", Path: "/file", Handler: httpapi.File(func(_ context.Context, w http.ResponseWriter, r *request) error {
				note(r)
				_, err := w.Write([]byte("line"))
				return err
			})},
		},
		Admit: func(context.Context, *httpapi.Info, string, domain.Scope) (int, error) { return 0, nil },
	})
	for _, path := range []string{"/data", "/error", "/file"} {
		answer, written = httptest.NewRecorder(), -1
		router.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		if written != answer.Body.Len() || written == 0 {
			t.Errorf("%s: %d bytes of %d were written", path, written, answer.Body.Len())
		}
	}
}
