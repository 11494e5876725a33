package cabinet_test

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

func TestEveryPageIsReachedAndStrict(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		receiver := f.receiver(http.StatusOK)
		_, token := v.createToken("<b>HR</b> \"sync\"")
		v.addWebhook(receiver.URL)
		f.provision(token, 1, 1)
		f.awaitRequest(receiver)
		v.waitForText(view.PathDeliveries+"?state=delivered", "HR-1")
		v.post(view.PathInvite, "email", colleague).follow()

		// do calls checkPolicy for each page; the links on it are visited next.
		links := regexp.MustCompile(`\shref="(/cabinet[^"#]*)"`)
		seen, left := map[string]bool{}, []string{view.PathHome}
		for len(left) > 0 {
			path := left[0]
			left = left[1:]
			if seen[path] {
				continue
			}
			seen[path] = true
			r := v.get(path)
			if r.status != http.StatusOK {
				f.Errorf("%s: %d", path, r.status)
			}
			for _, m := range links.FindAllStringSubmatch(r.text, -1) {
				left = append(left, m[1])
			}
		}
		if len(seen) < 25 {
			f.Errorf("only %d pages are linked", len(seen))
		}
		if r := v.get(view.PathTokens).wantStatus(http.StatusOK); regexp.MustCompile(`<b>HR`).MatchString(r.raw) {
			f.Error("a token's name is taken for HTML")
		}
		f.visitor().signIn("\x00\xff@baltic.example", password).wantStatus(http.StatusUnprocessableEntity)
		v.get("/cabinet/nothing/here").wantStatus(http.StatusNotFound).wantText("There is no such page", "Audit log", "Sign out")
		v.get(view.PathToken(999999)).wantStatus(http.StatusNotFound).wantText("There is no such page", "Audit log")
		f.visitor().get("/cabinet/nothing/here").wantStatus(http.StatusNotFound).wantNoText("Audit log")
	})
}

func TestOtherSitesCanNotPost(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		form := url.Values{"name": {"stolen"}, "timeZone": {"UTC"}, "deadlineDays": {"30"}}
		for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}} {
			v.do(http.MethodPost, view.PathSettings, form, header...).wantStatus(http.StatusForbidden).wantText("This request came from another site")
		}
		v.get(view.PathSettings).wantStatus(http.StatusOK).wantText("Baltic Freight").wantNoText("stolen")
		v.do(http.MethodPost, view.PathSettings, form, "Sec-Fetch-Site", "same-origin").wantRedirect(view.PathSettings).wantText("stolen")
		v.post(view.PathSettings, "name", "", "timeZone", "Mars/Base", "deadlineDays", "soon").wantStatus(http.StatusUnprocessableEntity).wantText("Mars/Base", "soon")
	})
}

func TestPagesAreCompressed(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		plain := v.do(http.MethodGet, view.PathAudit, nil, "Accept-Encoding", "identity").wantStatus(http.StatusOK)
		packed := v.do(http.MethodGet, view.PathAudit, nil, "Accept-Encoding", "gzip").wantStatus(http.StatusOK)
		if packed.header.Get("Content-Encoding") != "gzip" || plain.header.Get("Content-Encoding") != "" || packed.header.Get("Vary") == "" {
			f.Errorf("compressed for a client that accepts it: %v, for one that does not: %v", packed.header, plain.header)
		}
		if 2*len(packed.raw) > len(plain.raw) {
			f.Errorf("%d bytes compressed, %d plain", len(packed.raw), len(plain.raw))
		}
	})
}

func TestSettingsHaveTitlesOfTheirOwn(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		seen := map[string]string{}
		for _, path := range []string{view.PathSettings, view.PathAdministrators, view.PathMySignIn, view.PathSessions} {
			title := v.get(path).wantStatus(http.StatusOK).find(`<title>([^<]+)</title>`)
			if seen[title] != "" {
				f.Errorf("%s and %s share the title %q", seen[title], path, title)
			}
			seen[title] = path
		}
	})
}
