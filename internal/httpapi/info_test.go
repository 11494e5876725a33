package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestRequestID(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sent string
		kept bool
	}{
		{"hr-sync-7f3a91", true},
		{"!", true},
		{strings.Repeat("x", 128), true},
		{strings.Repeat("x", 129), false},
		{"", false},
		{"two words", false},
		{"tab\there", false},
		{"я", false},
		{"\x7f", false},
	} {
		rec, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header["X-Request-Id"] = []string{c.sent}
		info := InfoFrom(WithInfo(rec, r).Context())
		if (info.RequestID == c.sent) != c.kept || !isValidRequestID(info.RequestID) {
			t.Errorf("sent %q, got %q", c.sent, info.RequestID)
		}
		if rec.Header().Get("X-Request-Id") != info.RequestID {
			t.Errorf("answered %q, want %q", rec.Header().Get("X-Request-Id"), info.RequestID)
		}
	}
}

func TestInfoFromContext(t *testing.T) {
	t.Parallel()
	type key struct{}
	rec := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/?a=b", strings.NewReader("12345")).WithContext(context.WithValue(t.Context(), key{}, "kept"))
	r = WithInfo(rec, r)
	info := InfoFrom(r.Context())
	if info.Size != 5 || info.RawQuery != "a=b" || info.Remote() != "192.0.2.1" {
		t.Errorf("%+v", info)
	}
	if r.Context().Value(key{}) != "kept" {
		t.Error("the parent's values are gone")
	}
	if again := WithInfo(rec, r); again != r {
		t.Error("a request that has an Info got another")
	}
	if info := InfoFrom(t.Context()); info == nil || info.Remote() != "" {
		t.Errorf("outside a request: %+v", info)
	}
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	if InfoFrom(ctx) != info || ctx.Err() == nil {
		t.Error("a derived context lost the Info")
	}
}
