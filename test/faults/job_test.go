package faults

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// visitor is an administrator who is signed in to the cabinet.
type visitor struct {
	client *http.Client
	base   string
}

// newVisitor signs the company's administrator in.
func newVisitor(t *testing.T, c company, base string) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{client: &http.Client{Jar: jar, Timeout: timeout}, base: base}
	link, err := url.Parse(runJSON[struct{ SignInURL string }](t, c.database, "admin", "link", "--email", "ann@acme.example").SignInURL)
	if err != nil {
		t.Fatal(err)
	}
	v.post(t, link.Path, "password", "four unrelated words here", "repeat", "four unrelated words here")
	return v
}

// post sends a form, follows the redirect and returns the path and the text of the
// page it leads to.
func (v *visitor) post(t *testing.T, path string, pairs ...string) (at, page string) {
	t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return v.do(t, r)
}

func (v *visitor) get(t *testing.T, path string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, page := v.do(t, r)
	return page
}

func (v *visitor) do(t *testing.T, r *http.Request) (at, page string) {
	t.Helper()
	res, err := v.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s, %v", r.Method, r.URL.Path, res.Status, err)
	}
	return res.Request.URL.Path, string(text)
}

var doneFigure = regexp.MustCompile(`<strong>([1-9][\d,]*)</strong>`)

// waitForPage waits until a page of background work matches.
func (v *visitor) waitForPage(t *testing.T, path, what string, matches func(page string) bool) {
	t.Helper()
	eventually(t, 2*timeout, what, func() error {
		if page := v.get(t, path); !matches(page) {
			return fmt.Errorf("%s is not there yet", what)
		}
		return nil
	})
}

// A server is killed while it imports people with courses, and again while it tags
// them. The next one continues both, and nobody is added, assigned or tagged twice.
func TestKilledImportAndBulkContinue(t *testing.T) {
	t.Parallel()
	const people = 2000
	database := sqliteDatabase(t)
	acme := newCompany(t, database)
	server := serve(t, database, "--no-webhooks")
	v := newVisitor(t, acme, server.url)
	killWhileRunning := func(path string) {
		t.Helper()
		v.waitForPage(t, path, "some progress", func(page string) bool { return doneFigure.MatchString(page) })
		server.kill()
		server = serve(t, database, "--no-webhooks")
		v.base = server.url
		t.Logf("killed %s, continuing: %s", path, doneFigure.FindString(v.get(t, path)))
	}
	var table strings.Builder
	table.WriteString("id,name,email,course\n")
	for n := range people {
		fmt.Fprintf(&table, "E-%d,Person %d,e%d@acme.example,Safety\n", n, n, n)
	}
	path, _ := v.post(t, "/cabinet/employees/import", "text", table.String())
	v.post(t, path, "column0", "externalId", "column1", "name", "column2", "email", "column3", "course")
	result, _ := v.post(t, path+"/check")
	killWhileRunning(result)
	v.waitForPage(t, result, "the end of the import", func(page string) bool { return strings.Contains(page, "All rows were imported") })
	for _, list := range []string{"employees", "assignments"} {
		body := string(acme.mustSend(t, http.MethodGet, server.url+"/api/v1/"+list+"?limit=1", nil))
		if want := fmt.Sprintf(`"total":%d`, people); !strings.Contains(strings.ReplaceAll(body, " ", ""), want) {
			t.Errorf("the list of %s is %.300s, want %s", list, body, want)
		}
	}
	job, _ := v.post(t, "/cabinet/employees/bulk", "act", "tag", "tags", "night", "all", "1")
	killWhileRunning(job)
	v.waitForPage(t, job, "the end of the bulk", func(page string) bool { return strings.Contains(page, "2,000 tagged") })
	if page := v.get(t, job); strings.Contains(page, "already so") {
		t.Error("the bulk job has worked on somebody twice")
	}
}
