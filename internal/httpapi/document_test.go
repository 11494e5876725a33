package httpapi

import (
	"net/http/httptest"
	"testing"
)

func TestDocument(t *testing.T) {
	t.Parallel()
	h := Document("text/plain", []byte("hello"))
	ask := func(method, tag string) *httptest.ResponseRecorder {
		rec, r := httptest.NewRecorder(), httptest.NewRequest(method, "/", nil)
		if tag != "" {
			r.Header.Set("If-None-Match", tag)
		}
		h.ServeHTTP(rec, r)
		return rec
	}
	first := ask("GET", "")
	tag := first.Header().Get("ETag")
	if first.Code != 200 || first.Body.String() != "hello" || tag == "" || first.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("%d %v %s", first.Code, first.Header(), first.Body)
	}
	for _, c := range []struct {
		method, tag string
		status      int
		body        string
	}{
		{"GET", tag, 304, ""},
		{"GET", `"other", W/` + tag, 304, ""},
		{"GET", "*", 304, ""},
		{"GET", `"other"`, 200, "hello"},
		{"HEAD", "", 200, ""},
	} {
		if got := ask(c.method, c.tag); got.Code != c.status || got.Body.String() != c.body {
			t.Errorf("%s %s: %d %s", c.method, c.tag, got.Code, got.Body)
		}
	}
	if got := ask("POST", ""); got.Code != 405 || got.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d %v", got.Code, got.Header())
	}
}
