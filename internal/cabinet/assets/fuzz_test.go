package assets

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A client that names no gzip, or excludes it, gets none, however the header is written.
func FuzzAcceptsGzip(f *testing.F) {
	for _, seed := range []string{"", "gzip", "br, GZIP;q=0.5", "gzip;q=0", "gzip; Q = 0.000", "gzip;q=NaN", "x-gzip", ",,;=", "gzip;q=1e-400"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		accepts := func(text string) bool {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header.Set("Accept-Encoding", text)
			return AcceptsGzip(r)
		}
		if accepts(header) && !strings.Contains(strings.ToLower(header), "gzip") {
			t.Errorf("%q accepts gzip", header)
		}
		for _, excluded := range []string{"gzip;q=0,", "gzip; q=0.000 ,", "GZIP;Q=0,"} {
			if accepts(excluded + header) {
				t.Errorf("%q accepts gzip", excluded+header)
			}
		}
	})
}
