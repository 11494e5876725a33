package browser

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/chromedp/chromedp"

	"github.com/coursebridge/coursebridge/internal/app"
)

//go:embed testdata/axe.min.js
var axe string

// viewport is a window with a colour scheme.
type viewport struct {
	width  int64
	scheme string
}

var viewports = []viewport{{1440, "light"}, {1440, "dark"}, {390, "light"}, {390, "dark"}, {1024, "light"}, {1024, "dark"}}

// fillCompany creates data for every page and returns the paths of all of them.
func fillCompany(f *fixture, b *tab) []string {
	token := b.createToken("HR sync with a name that is rather long, so that one sees where it is cut")
	if _, err := f.program.AddCourse(f.Context(), f.company.CompanyID, app.CourseInput{
		Name: "Workplace safety for everybody who works with forklifts, ladders and dangerous goods", PassMark: 80, Assessment: true,
		Attempts: 3, Modules: []string{"Fire", "Ladders", "First aid"},
	}); err != nil {
		f.Fatal(err)
	}
	webhook := newReceiver(f.T)
	b.addWebhook(webhook.URL + "/a/long/path/that/goes/on/and/on/until/it/is/cut/somewhere")
	healthy := newReceiver(f.T)
	b.addWebhook(healthy.URL + "/hooks")
	f.provision(token, 1)
	webhook.answer(http.StatusBadGateway)
	for n := 2; n < 12; n++ {
		f.provision(token, n)
	}
	b.waitForAnswer("/cabinet/deliveries?state=retrying", `text.includes('employee.joined')`)
	b.postForm("/cabinet/settings/administrators/invite", "email", "maximiliane.von-der-goltz@subsidiary.baltic-freight.example", "name", "Maximiliane Alexandra von der Goltz-Hohenstein")
	b.postForm("/cabinet/deliveries/redeliver", "state", "failed")
	b.postForm("/cabinet/webhooks/2/test")
	b.postForm("/cabinet/employees/import", "text", "name,email,course\nMaximiliane Alexandra von der Goltz-Hohenstein,max@baltic.example,\nNobody,nonsense,\nPerson 1,p1@baltic.example,Unknown course\n")
	b.postForm("/cabinet/imports/1", "column0", "name", "column1", "email", "column2", "course")
	b.postForm("/cabinet/employees/bulk", "act", "tag", "tags", "warehouse", "all", "1")
	b.open("/cabinet/deliveries?state=retrying")
	detail := evaluate[string](b, `document.querySelector('a[href^="/cabinet/deliveries/0"]').getAttribute('href')`)
	return []string{
		"/cabinet", "/cabinet/integrations", "/cabinet/courses", "/cabinet/courses/1", "/cabinet/courses/1/slice", "/cabinet/courses/1/archive", "/cabinet/tokens", "/cabinet/tokens/new", "/cabinet/tokens/1", "/cabinet/tokens/1/rename", "/cabinet/webhooks/events", "/cabinet/tokens/1/regenerate", "/cabinet/tokens/1/revoke",
		"/cabinet/webhooks", "/cabinet/webhooks/new", "/cabinet/webhooks/1", "/cabinet/webhooks/1/edit", "/cabinet/webhooks/1/rotate",
		"/cabinet/webhooks/2", "/cabinet/webhooks/1/disable", "/cabinet/webhooks/1/remove", "/cabinet/deliveries", "/cabinet/deliveries?state=held", detail,
		"/cabinet/deliveries/redeliver", "/cabinet/deliveries/redeliver?count=1", "/cabinet/deliveries/redeliver/1", "/cabinet/audit",
		"/cabinet/audit?q=HR-7", "/cabinet/audit?action=course.", "/cabinet/employees", "/cabinet/employees?show=left", "/cabinet/employees/1", "/cabinet/employees/new", "/cabinet/employees/1/edit",
		"/cabinet/reports", "/cabinet/reports/overdue", "/cabinet/reports/courses", "/cabinet/reports/tags", "/cabinet/reports/compliance",
		"/cabinet/reports/matrix", "/cabinet/reports/person", "/cabinet/employees/1/record",
		"/cabinet/employees/import", "/cabinet/imports/1", "/cabinet/imports/1/check", "/cabinet/employees?q=nobody", "/cabinet/employees/bulk?act=tag&all=1",
		"/cabinet/employees/bulk?act=offboard&all=1", "/cabinet/jobs/1", "/cabinet/employees/1/offboard", "/cabinet/employees/1/erase",
		"/cabinet/settings", "/cabinet/settings/administrators", "/cabinet/settings/administrators/invite", "/cabinet/settings/sign-in",
		"/cabinet/settings/sign-in/second-factor", "/cabinet/settings/sign-in/recovery-codes", "/cabinet/settings/sessions",
		"/cabinet/companies", "/cabinet/no-such-page",
	}
}

// postForm posts a form without leaving the page.
func (b *tab) postForm(path string, pairs ...string) {
	b.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	b.waitFor("an answer of "+path, fmt.Sprintf(`(window.cbSent ??= {}, window.cbSent[%[1]q] ??= (fetch(%[1]q, {method: 'POST', body: new URLSearchParams(%[2]q)})
		.then(r => { window.cbSent[%[1]q] = r.ok ? 'done' : 'refused' }), 'sent'), window.cbSent[%[1]q] === 'done')`, path, form.Encode()))
}

var openPages = []string{"/cabinet/sign-in", "/cabinet/signed-out", "/cabinet/enter/expired", "/docs/api"}

// violations runs axe-core, which was loaded, on the page: the rules, or all of them.
func (b *tab) violations(rules []string) string {
	b.Helper()
	only, err := json.Marshal(rules)
	if err != nil {
		b.Fatal(err)
	}
	found, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](
		`axe.run(document, {runOnly: `+string(only)+` ?? undefined, resultTypes: ['violations'], selectors: false, preload: false, iframes: false}).then(r => JSON.stringify(r.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes.slice(0, 3).map(n => n.html.slice(0, 160))}))))`,
		chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("run axe-core: %v", err)
	}
	var list []any
	if err := json.Unmarshal([]byte(found), &list); err != nil {
		b.Fatalf("what axe-core found: %v", err)
	}
	if len(list) == 0 {
		return ""
	}
	return found
}
