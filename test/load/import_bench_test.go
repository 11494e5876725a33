package load

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"
)

const importedRows = 50_000

// send posts a form, follows the redirect and returns the path it leads to.
func (v *visitor) send(b *testing.B, path string, form url.Values) string {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, v.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := v.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
		b.Fatalf("%s: %s, %v", path, res.Status, err)
	}
	return res.Request.URL.Path
}

// importTable returns a table of people, each with a course. The name makes the rows
// of a second import differ.
func importTable(name string) string {
	var out strings.Builder
	out.WriteString("id,name,email,tags,course,deadline\n")
	for n := range importedRows {
		fmt.Fprintf(&out, "E-%d,%s %d,e%d@acme.example,warehouse; night,Safety at work,2030-01-31\n", n, name, n, n)
	}
	return out.String()
}

// importAll uploads a table, checks it and carries it out. It returns how long the
// check and the rest took.
func (v *visitor) importAll(b *testing.B, table string) (check, done time.Duration) {
	b.Helper()
	path := v.send(b, "/cabinet/employees/import", url.Values{"text": {table}})
	began := time.Now()
	v.send(b, path, url.Values{
		"column0": {"externalId"}, "column1": {"name"}, "column2": {"email"}, "column3": {"tags"}, "column4": {"course"}, "column5": {"deadline"},
	})
	check = time.Since(began)
	began = time.Now()
	result := v.send(b, path+"/check", nil)
	for {
		page, _ := v.open(b, result)
		if strings.Contains(page, "All rows were imported") {
			return check, time.Since(began)
		}
		if strings.Contains(page, "could not be imported") || time.Since(began) > 10*time.Minute {
			b.Fatalf("the import failed:\n%.3000s", page)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// BenchmarkImport imports 50,000 people with tags and a course each, and then the
// same people with other names.
func BenchmarkImport(b *testing.B) {
	f := newCompany(b, engines["postgres"](b))
	link := runJSON[struct{ SignInURL string }](b, f.database, "admin", "link", "--email", "ann@acme.example").SignInURL
	p := serve(b, f.database)
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	v := &visitor{Client: http.Client{Jar: jar}, base: "http://" + p.address}
	if err := v.enter(b.Context(), link); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, round := range []string{"new", "changed"} {
			check, done := v.importAll(b, importTable("Person "+round))
			below(b, "check 50,000 rows, "+round, check.Seconds(), 10, "s-check-"+round)
			below(b, "import 50,000 rows, "+round, done.Seconds(), 60, "s-import-"+round)
		}
	}
}
