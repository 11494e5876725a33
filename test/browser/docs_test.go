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
	if b == nil {
		return
	}
	for _, path := range []string{"/docs/errors", "/docs/search?q=token", "/demo/receiver"} {
		b.checkPage(path)
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
