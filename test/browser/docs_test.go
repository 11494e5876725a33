package browser

import (
	"fmt"
	"net/url"
	"testing"
)

// The documentation and the demo's receiver are accessible in both themes, the theme
// switch works, and a webhook appears on the receiver's page while it is open.
func TestDocumentationAndReceiver(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	base, err := url.Parse(d.DocsURL)
	if err != nil {
		t.Fatal(err)
	}
	b := newTab(t, "http://"+base.Host)
	looks := newInspection(true, 390)
	b.open("/docs")
	pages := evaluate[[]string](b, `[...new Set([...document.querySelectorAll('nav a[href^="/docs"]')].map(a => a.pathname))]`)
	if len(pages) < 20 {
		t.Errorf("only %d pages are in the contents: %q", len(pages), pages)
	}
	for _, path := range append(pages, "/docs/search?q=token") {
		if path != "/docs/api" { // is inspected with the pages of the cabinet
			looks.visit(b, path)
		}
	}
	for _, dark := range []bool{false, true} {
		newInspection(dark, 390, 1440).visit(b, "/demo/receiver")
	}
	b.open("/docs/webhooks")
	b.click("Dark")
	b.waitFor("the dark theme", `document.documentElement.dataset.theme === 'dark'`)
	b.fill("input[name=q]", "own machine")
	b.click("Search")
	b.waitForText("Webhooks: On your own machine")
	b.open("/demo/receiver")
	b.waitFor("an employee who was provisioned meanwhile", fmt.Sprintf(`(window.cbSent ??= fetch('/api/v1/employees/provision', {method: 'POST',
		headers: {Authorization: 'Bearer %s'}, body: '{"externalId":"NEW-1","email":"new@northwind.example","name":"New Person"}'}),
		[...document.querySelectorAll('#received li')].some(li => li.textContent.includes('NEW-1')))`, d.Token))
	if away := b.foreignRequests(); len(away) > 0 {
		t.Errorf("the pages requested other hosts: %v", away)
	}
}
