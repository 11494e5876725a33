package cabinet_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

// The documentation needs no session. Its search, its files and the theme switch work
// without scripts; the demo's pages are not there.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.visitor()
		v.get(view.PathDocs).wantStatus(http.StatusOK).wantText("Start: the first ten minutes", "Integrate", "Run", "Administer", "Change it")
		v.get(view.PathDocsSearch+"?q=rotate+secret").wantStatus(http.StatusOK).wantText("all of these words: rotate secret", "Webhooks")
		v.get(view.PathDocsSearch + "?q=zzzzzz").wantText("No page has all of these words: zzzzzz")
		if picture := v.get("/docs/files/docs/pictures/home.png").wantStatus(http.StatusOK); picture.header.Get("Content-Type") != "image/png" {
			t.Errorf("a picture is served as %q", picture.header.Get("Content-Type"))
		}
		if file := v.get("/docs/files/deploy/nginx.conf").wantStatus(http.StatusOK); !strings.HasPrefix(file.header.Get("Content-Type"), "text/plain") {
			t.Errorf("a configuration is served as %q", file.header.Get("Content-Type"))
		}
		for _, path := range []string{"/docs/no-such-page", "/docs/files/go.mod", "/docs/files/docs/start.md"} {
			v.get(path).wantStatus(http.StatusNotFound)
		}
		for back, want := range map[string]string{
			"/docs/webhooks": "/docs/webhooks", "/docsx": view.PathHome, "//evil.example/docs": view.PathHome, "https://evil.example/docs": view.PathHome,
		} {
			moved := v.post(view.PathTheme, "theme", "dark", "back", back).wantStatus(http.StatusSeeOther)
			if got := moved.header.Get("Location"); got != want {
				t.Errorf("the theme switch leads from %s to %s, want %s", back, got, want)
			}
		}
		if got := v.get(view.PathDemoReceiver); got.status == http.StatusOK {
			t.Error("the demo's receiver is served outside the demo")
		}
	})
}
