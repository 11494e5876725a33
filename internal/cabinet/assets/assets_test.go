package assets_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/cabinet/assets"
)

func get(t *testing.T, address string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, address, http.NoBody)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	assets.Handler().ServeHTTP(w, r)
	return w
}

func TestAssetsAreKeptForEver(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]string{
		"app.css": "text/css; charset=utf-8", "app.js": "text/javascript; charset=utf-8",
		"chart.js": "text/javascript; charset=utf-8", "favicon.svg": "image/svg+xml",
		"inter-latin.woff2": "font/woff2",
	} {
		address := assets.URL(name)
		if !regexp.MustCompile(`^/cabinet/assets/[a-z-]+\.[0-9a-f]{12}\.[a-z0-9]+$`).MatchString(address) {
			t.Errorf("the address %s does not change with the content", address)
		}
		w := get(t, address)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != kind {
			t.Errorf("%s: %d %s", name, w.Code, w.Header().Get("Content-Type"))
		}
		if got := w.Header().Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
			t.Errorf("%s: Cache-Control %q", name, got)
		}
		if w.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s: compressed for a client that did not ask", name)
		}
	}
}

func TestAssetsAreCompressedForThoseWhoTakeIt(t *testing.T) {
	t.Parallel()
	address := assets.URL("app.css")
	plain := get(t, address)
	packed := get(t, address, "Accept-Encoding", "br, gzip;q=0.8")
	if got := packed.Header().Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("Content-Encoding %q", got)
	}
	r, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if string(unpacked) != plain.Body.String() {
		t.Error("the compressed form holds something else")
	}
	if got := get(t, address, "Accept-Encoding", "gzip;q=0").Header().Get("Content-Encoding"); got != "" {
		t.Errorf("Content-Encoding %q for a client that refuses it", got)
	}
	// A part of the compressed form would be of no use.
	if got := get(t, address, "Accept-Encoding", "gzip", "Range", "bytes=0-9"); got.Code != http.StatusOK {
		t.Errorf("a range is answered with %d", got.Code)
	}
}

func TestOtherAddressesLeadNowhere(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"/cabinet/assets/app.css", "/cabinet/assets/", "/cabinet/assets/app.000000000000.css", "/cabinet/assets/../assets.go"} {
		if w := get(t, address); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", address, w.Code)
		}
	}
}

// No page may weigh more than 150 KB; the explorer is a page apart.
func TestPagesStayLight(t *testing.T) {
	t.Parallel()
	const limit = 150_000
	heaviest := 0
	for _, name := range []string{"app.css", "app.js", "chart.js", "favicon.svg"} {
		size := get(t, assets.URL(name), "Accept-Encoding", "gzip").Body.Len()
		if size == 0 {
			t.Errorf("%s is empty", name)
		}
		heaviest += size
	}
	if heaviest > limit {
		t.Errorf("the heaviest page fetches %d bytes, more than %d", heaviest, limit)
	}
}

// The style sheet names the font's files as they are served, and they are small.
func TestFontIsServed(t *testing.T) {
	t.Parallel()
	const limit = 60_000
	total, found := 0, regexp.MustCompile(`url\(([^)]+\.woff2)\)`).FindAllStringSubmatch(get(t, assets.URL("app.css")).Body.String(), -1)
	for _, m := range found {
		w := get(t, assets.Prefix+m[1], "Accept-Encoding", "gzip")
		if w.Code != http.StatusOK || w.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s: %d, Content-Encoding %q", m[1], w.Code, w.Header().Get("Content-Encoding"))
		}
		total += w.Body.Len()
	}
	if len(found) != 3 || total > limit {
		t.Errorf("the style sheet names %d files of a font with %d bytes, want 3 with at most %d", len(found), total, limit)
	}
}

// Whatever a script or style sheet fetches comes from here.
func TestAssetsCallNobodyElse(t *testing.T) {
	t.Parallel()
	foreign := regexp.MustCompile(`(?i)(url\(["']?https?:|@import\s+["']https?:|fonts\.g|cdn\.)`)
	for _, name := range []string{"app.css", "app.js", "chart.js", "docs.css"} {
		if found := foreign.FindString(get(t, assets.URL(name)).Body.String()); found != "" {
			t.Errorf("%s refers to another host: %s", name, strings.TrimSpace(found))
		}
	}
}
