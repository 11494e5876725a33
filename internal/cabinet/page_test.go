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
	each(t, func(o office) {
		v := o.enter()
		receiver := o.receiver(http.StatusOK)
		_, token := v.createToken("<b>HR</b> \"sync\"")
		v.addWebhook(receiver.URL)
		o.hire(token, 1, 1)
		o.hears(receiver)
		v.until(view.PathDeliveries+"?state=delivered", "HR-1")
		v.post(view.PathInvite, "email", colleague).is(http.StatusOK)

		// Each page is held to strict as it is read; links lead to the next ones.
		links := regexp.MustCompile(`\shref="(/cabinet[^"#]*)"`)
		seen, left := map[string]bool{}, []string{view.PathOverview}
		for len(left) > 0 {
			path := left[0]
			left = left[1:]
			if seen[path] {
				continue
			}
			seen[path] = true
			r := v.get(path)
			if r.status != http.StatusOK {
				o.Errorf("%s: %d", path, r.status)
			}
			for _, m := range links.FindAllStringSubmatch(r.text, -1) {
				left = append(left, m[1])
			}
		}
		if len(seen) < 25 {
			o.Errorf("only %d pages are linked", len(seen))
		}
		if r := v.get(view.PathTokens).is(http.StatusOK); regexp.MustCompile(`<b>HR`).MatchString(r.raw) {
			o.Error("a token's name is taken for HTML")
		}
		o.visitor().signIn("\x00\xff@baltic.example", password).is(http.StatusUnprocessableEntity)
		v.get("/cabinet/nothing/here").is(http.StatusNotFound).has("There is no such page")
		o.visitor().get("/cabinet/nothing/here").is(http.StatusNotFound)
	})
}

func TestOtherSitesCanNotPost(t *testing.T) {
	t.Parallel()
	each(t, func(o office) {
		v := o.enter()
		form := url.Values{"name": {"stolen"}, "timeZone": {"UTC"}, "deadlineDays": {"30"}}
		for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}} {
			v.do(http.MethodPost, view.PathSettings, form, header...).is(http.StatusForbidden).has("This came from another site")
		}
		v.get(view.PathSettings).is(http.StatusOK).has("Baltic Freight").lacks("stolen")
		v.do(http.MethodPost, view.PathSettings, form, "Sec-Fetch-Site", "same-origin").leads(view.PathSettings).has("stolen")
		v.post(view.PathSettings, "name", "", "timeZone", "Mars/Base", "deadlineDays", "soon").is(http.StatusUnprocessableEntity).has("Mars/Base", "soon")
	})
}
