package browser

import (
	"context"
	"encoding/base32"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/coursebridge/coursebridge/internal/cabinet"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// inspection is a look at many pages at every width: nothing is wider than its window,
// no boxes overlap, axe-core finds no violation, and every page has a title of its own.
type inspection struct {
	dark   bool              // wide windows are dark and narrow ones light, otherwise the other way round
	widths []int64           // of the windows in which boxes are measured
	axeAt  []int64           // the widths at which axe-core runs
	rules  []string          // of axe-core; all of them if empty
	titles map[string]string // to the path
	seen   []string          // paths that were answered with 200
}

func newInspection(dark bool, axeAt ...int64) *inspection {
	return &inspection{dark: dark, widths: widths, axeAt: axeAt, titles: map[string]string{}}
}

// colourRules are the rules of axe-core that depend on the theme.
var colourRules = []string{"color-contrast", "link-in-text-block"}

// TestEveryPage inspects every page of the routing table. PostgreSQL has the themes that
// SQLite has not, and leaves out what a theme doesn't change.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, f *fixture) {
		b := f.administrator()
		looks := newInspection(false, 390, 1440)
		if strings.HasPrefix(f.program.Database, "postgres") {
			looks.dark, looks.widths, looks.rules = true, looks.axeAt, colourRules
		}
		paths := append(fillCompany(f, b), "/cabinet/deliveries?period=custom", "/cabinet/audit?period=custom&from=2026-01-01T00:00", "/cabinet/deliveries/redeliver?period=custom")
		for _, path := range append(paths, fillRest(f, b)...) {
			looks.visit(b, path)
		}
		visitor := newTab(t, f.program.URL)
		for _, path := range openPages {
			looks.visit(visitor, path)
		}
		looks.oncePages(f, b, visitor)
		looks.checkAllPagesAreSeen(t)
		if away := append(b.foreignRequests(), visitor.foreignRequests()...); len(away) > 0 {
			t.Errorf("the pages requested other hosts: %v", away)
		}
	})
}

// visit opens a page and inspects it.
func (i *inspection) visit(b *tab, path string) {
	b.Helper()
	b.open(path)
	if path == "/docs/api" {
		b.waitForText("Your first call")
	}
	i.look(b)
}

// look inspects the page that is open.
func (i *inspection) look(b *tab) {
	b.Helper()
	path := strings.TrimPrefix(b.location(), b.base)
	b.do(loadAxe)
	for _, width := range i.widths {
		scheme := "light"
		if (width >= 1024) == i.dark {
			scheme = "dark"
		}
		b.emulate(width, scheme)
		boxes := evaluate[struct {
			Wide  int
			Found []string
		}](b, `({Wide: document.documentElement.scrollWidth - window.innerWidth, Found: `+overlaps+`})`)
		if boxes.Wide > 0 || len(boxes.Found) > 0 {
			b.Errorf("%s at %d: %d pixels wider than the window, overlaps %q", path, width, boxes.Wide, boxes.Found)
		}
		if !slices.Contains(i.axeAt, width) {
			continue
		}
		if found := b.violations(i.rules); found != "" {
			b.Errorf("%s at %d, %s: %s", path, width, scheme, found)
		}
	}
	page := evaluate[struct {
		Status      int
		Title, Path string
	}](b, `({Status: performance.getEntriesByType('navigation')[0].responseStatus, Title: document.title, Path: location.pathname})`)
	if other, known := i.titles[page.Title]; known && other != page.Path {
		b.Errorf("%s and %s share the title %q", other, page.Path, page.Title)
	}
	i.titles[page.Title] = page.Path
	if page.Status == http.StatusOK {
		i.seen = append(i.seen, page.Path)
	}
}

var loadAxe = chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
	_, err := chromedp.Evaluate[any](axe+"; null")(ctx, t)
	return err
})

// oncePages inspects the pages that are shown once, after what leads to them: a new token,
// an invitation, two-step verification with its recovery codes, the sign-in with a code, and
// the choice of a first password.
func (i *inspection) oncePages(f *fixture, b, visitor *tab) {
	b.Helper()
	b.createToken("Shown once")
	i.look(b)
	b.open("/cabinet/settings/administrators/invite")
	b.fill("input[name=email]", "boris@baltic.example")
	b.click("Create link")
	b.waitForText("Copy the link now")
	i.look(b)
	i.visit(visitor, strings.TrimPrefix(evaluate[string](b, `document.querySelector('[data-secret]').innerText`), b.base))

	b.beginSecondFactor()
	i.look(b)
	b.confirmSecondFactor()
	i.look(b)
	visitor.open("/cabinet")
	visitor.signIn("anna@baltic.example", password)
	visitor.waitForText("six-digit code")
	i.look(visitor)
	i.visit(visitor, "/cabinet/sign-in/code?kind=recovery")
	f.forgetPasswords()
	delete(i.titles, "Welcome · Coursebridge") // a link's page asks for the same
	i.visit(b, "/cabinet/settings/sign-in/password")
}

// forgetPasswords leaves the administrators as a link does before they choose a password.
func (f *fixture) forgetPasswords() {
	f.Helper()
	s, err := store.Open(f.Context(), f.program.Database)
	if err != nil {
		f.Fatal(err)
	}
	defer s.Close()
	err = s.Engine().Write(f.Context(), func(tx db.Tx) error {
		_, err := tx.Exec(f.Context(), `UPDATE administrators SET password_hash = NULL`)
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
}

// beginSecondFactor asks for the secret of two-step verification.
func (b *tab) beginSecondFactor() {
	b.Helper()
	b.open("/cabinet/settings/sign-in/second-factor")
	b.fill("main input[name=current]", password)
	b.submit("main form.form")
	b.waitFor("the secret", `document.querySelector('[data-secret]') !== null`)
}

// confirmSecondFactor enters the code that an app would show for the secret on the page.
func (b *tab) confirmSecondFactor() {
	b.Helper()
	secret := strings.ReplaceAll(evaluate[string](b, `document.querySelector('[data-secret]').innerText`), " ", "")
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		b.Fatal(err)
	}
	b.fill("main input[name=code]", domain.TOTPCode(key, domain.TOTPStep(time.Now())))
	b.submit("main form.form")
	b.waitForText("Save these codes")
}

// notPages are the patterns of files.
var notPages = regexp.MustCompile(`/export$|\.csv$`)

// checkAllPagesAreSeen fails for a page of the routing table that was not inspected.
func (i *inspection) checkAllPagesAreSeen(t *testing.T) {
	t.Helper()
	for _, pattern := range append(cabinet.PrivatePatterns(), cabinet.PublicPatterns()...) {
		method, path, _ := strings.Cut(pattern, " ")
		if method != http.MethodGet || notPages.MatchString(path) {
			continue
		}
		page := regexp.MustCompile("^" + regexp.MustCompile(`\{[a-zA-Z]+\}`).ReplaceAllString(strings.TrimSuffix(path, "{$}"), `[^/]+`) + "$")
		if !slices.ContainsFunc(i.seen, page.MatchString) {
			t.Errorf("%s is not inspected: add its path to fillCompany, fillRest or oncePages", pattern)
		}
	}
}
