package publicapi_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/publicapi"
)

// An array that is too long is refused before its items are looked at: the
// answer is short, and the request costs little more than its own bytes. The longest
// one is refused by its shape already, the shorter one by the limit of its field.
func TestLongArraysCostLittle(t *testing.T) { //nolint:paralleltest // it measures what the process allocates
	h := newAPI(t, &fake{bulk: func([]domain.BulkItem) []domain.BulkResult { return nil }}, publicapi.Options{})
	for _, c := range []struct {
		method, path, field string
		length              int
	}{
		{"PATCH", "/employees/x", "tags", 520_000}, {"POST", "/assignments/bulk", "items", 520_000},
		{"PATCH", "/employees/x", "tags", 40_000}, {"POST", "/assignments/bulk", "items", 40_000},
	} {
		body := `{"` + c.field + `":[` + strings.Repeat("1,", c.length-1) + `1]}`
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rec := h.ask(allToken, c.method, c.path, body)
		runtime.ReadMemStats(&after)
		if got := failureOf(t, rec); rec.Code != 400 || got.fields() != c.field || rec.Body.Len() > 300 {
			t.Errorf("%d %s: got %d and %d bytes: %.300s", c.length, c.field, rec.Code, rec.Body.Len(), rec.Body)
		}
		if spent := after.TotalAlloc - before.TotalAlloc; spent > 4<<20 {
			t.Errorf("%d %s: %d bytes were allocated for a body of %d", c.length, c.field, spent, len(body))
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
