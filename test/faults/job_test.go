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
	eachEngine(t, func(t *testing.T, database string) {
		acme := newCompany(t, database)
		k := &killedServer{T: t, database: database, process: serve(t, database, "--no-webhooks")}
		k.visitor = newVisitor(t, acme, k.process.url)
		const people = 2000
		var table strings.Builder
		table.WriteString("id,name,email,course\n")
		for n := range people {
			fmt.Fprintf(&table, "E-%d,Person %d,e%d@acme.example,Safety\n", n, n, n)
		}
		path, _ := k.visitor.post(t, "/cabinet/employees/import", "text", table.String())
		k.visitor.post(t, path, "column0", "externalId", "column1", "name", "column2", "email", "column3", "course")
		result, _ := k.visitor.post(t, path+"/check")
		k.killWhileRunning(result)
		k.visitor.waitForPage(t, result, "the end of the import", func(page string) bool { return strings.Contains(page, "All rows were imported") })
		for _, list := range []string{"employees", "assignments"} {
			body := string(acme.mustSend(t, http.MethodGet, k.process.url+"/api/v1/"+list+"?limit=1", nil))
			if want := fmt.Sprintf(`"total":%d`, people); !strings.Contains(strings.ReplaceAll(body, " ", ""), want) {
				t.Errorf("the list of %s is %.300s, want %s", list, body, want)
			}
		}
		job, _ := k.visitor.post(t, "/cabinet/employees/bulk", "act", "tag", "tags", "night", "all", "1")
		k.killWhileRunning(job)
		k.visitor.waitForPage(t, job, "the end of the bulk", func(page string) bool { return strings.Contains(page, "2,000 tagged") })
		if page := k.visitor.get(t, job); strings.Contains(page, "already so") {
			t.Error("the bulk job has worked on somebody twice")
		}
		acme.checkTotals(t)
	})
}

// killedServer is a server that is killed and started again, with a visitor.
type killedServer struct {
	*testing.T
	database string
	process  *process
	visitor  *visitor
}

// killWhileRunning kills the server when the background work that the page shows has
// begun, and starts the next one, which finds it unfinished.
func (k *killedServer) killWhileRunning(path string) {
	k.Helper()
	k.visitor.waitForPage(k.T, path, "some progress", func(page string) bool { return doneFigure.MatchString(page) })
	k.process.kill()
	before := k.unfinished()
	k.process = serve(k.T, k.database, "--no-webhooks")
	k.visitor.base = k.process.url
	if len(before) != 1 {
		k.Errorf("the server was killed at %s with %d unfinished jobs, want 1: the test proves nothing", path, len(before))
	}
	k.Logf("killed at %s after %v, continuing", path, before)
}

// unfinished returns how far the jobs are that are not finished.
func (k *killedServer) unfinished() []string {
	k.Helper()
	return openOld(k.T, k.database).texts(`SELECT CAST(done AS text) FROM jobs WHERE finished_at IS NULL`)
}
