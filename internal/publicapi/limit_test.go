package publicapi_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/publicapi"
)

// An array that is too long is refused before its items are looked at: the
// answer is short, and the request costs little more than its own bytes.
func TestLongArraysCostLittle(t *testing.T) { //nolint:paralleltest // it measures what the process allocates
	h := newAPI(t, &fake{bulk: func([]domain.BulkItem) []domain.BulkResult { return nil }}, publicapi.Options{})
	numbers := "[" + strings.Repeat("1,", 520_000) + "1]"
	for _, c := range []struct{ method, path, field string }{
		{"PATCH", "/employees/x", "tags"}, {"POST", "/assignments/bulk", "items"},
	} {
		body := `{"` + c.field + `":` + numbers + `}`
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rec := h.ask(allToken, c.method, c.path, body)
		runtime.ReadMemStats(&after)
		if got := failureOf(t, rec); rec.Code != 400 || got.fields() != c.field || rec.Body.Len() > 300 {
			t.Errorf("%s: got %d and %d bytes: %.300s", c.field, rec.Code, rec.Body.Len(), rec.Body)
		}
		if spent := after.TotalAlloc - before.TotalAlloc; spent > 4<<20 {
			t.Errorf("%s: %d bytes were allocated for a body of %d", c.field, spent, len(body))
		}
	}
}

// At most 20 fields are named, however many are wrong.
func TestErrorsNameAFewFields(t *testing.T) {
	t.Parallel()
	h := newAPI(t, &fake{}, publicapi.Options{})
	rec := h.ask(allToken, "PATCH", "/employees/x", `{"tags":[`+strings.Repeat("1,", 49)+`1],"name":5}`)
	if got := failureOf(t, rec); rec.Code != 400 || len(got.Fields) != 20 || strings.Count(got.Message, ";") != 19 {
		t.Errorf("%d fields: %s", len(got.Fields), rec.Body)
	}
}
