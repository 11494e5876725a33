package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

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
