package cabinet_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
	"github.com/coursebridge/coursebridge/internal/cabinet"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

// formNames are the names of fields and queries of the pages.
var formNames = strings.Fields(`search email externalId name status tag url events column0 deadline act when tab show required module
	defaultDeadlineDays description employee event all username headerName headerValue held id endpoint count on nonce mask listed listedQ
	listedShow listedTag keepBodies grace file expiry everyone again person theme date next kind modules page after period q ratePerMinute
	reason repeat role route row scope sort state strictOrder tags text timeZone token who from to at course days company back code`)

// nastyValues are values that a database, a number or a date cannot hold.
var nastyValues = []string{"\x00", "\xff\xfe", "9223372036854775808", "-1", "99999-12-31T25:61", "'\"<%0A", "1"}

// signedIn returns a client of the first administrator of a new company, which has one
// record of each kind.
func signedIn(tb testing.TB, p *apptest.Program) *http.Client {
	tb.Helper()
	ctx := tb.Context()
	company, err := p.CreateCompany(ctx, "Fuzz", "fuzz@x.example", "Europe/Riga")
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := p.AddCourse(ctx, company.CompanyID, app.CourseInput{Name: "Course", PassMark: 80, Modules: []string{"One", "Two"}}); err != nil {
		tb.Fatal(err)
	}
	if _, err := p.CreateToken(ctx, app.TokenInput{Company: company.CompanyID, Name: "t", Scopes: []string{"b2b_read"}}); err != nil {
		tb.Fatal(err)
	}
	if _, err := p.AddWebhook(ctx, app.WebhookInput{Company: company.CompanyID, URL: "http://127.0.0.1:9/", Events: []string{"employee.joined"}}); err != nil {
		tb.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		tb.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	link, err := url.Parse(company.SignInURL)
	if err != nil {
		tb.Fatal(err)
	}
	submit := func(path string, form url.Values) {
		resp, err := client.PostForm(p.URL+path, form)
		if err != nil {
			tb.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			tb.Fatalf("%s: %s", path, resp.Status)
		}
	}
	submit(link.Path, url.Values{"password": {password}, "repeat": {password}})
	submit(view.PathEmployeeNew, url.Values{"email": {"e@x.example"}, "name": {"E"}, "role": {"employee"}})
	submit(view.PathImport, url.Values{"text": {"name,email\nA,a@x.example"}})
	return client
}

// endsSession matches the pages that would end the session of the test.
var endsSession = regexp.MustCompile(`POST .*(sign-out|sessions|administrators|sign-in)`)

var pathParameter = regexp.MustCompile(`\{[^}]+\}`)

// Every page answers whatever is typed into its address and its forms, and never with an
// error of the server.
func FuzzForms(f *testing.F) {
	p := apptest.Start(f, apptest.Options{})
	client := signedIn(f, p)
	var patterns []string
	for _, pattern := range cabinet.PrivatePatterns() {
		if !endsSession.MatchString(pattern) {
			patterns = append(patterns, pattern)
		}
	}
	for i := range patterns {
		query := url.Values{}
		for _, name := range formNames {
			query.Set(name, nastyValues[i%len(nastyValues)])
		}
		form := url.Values{}
		for n, name := range formNames {
			form.Set(name, nastyValues[(i+n)%len(nastyValues)])
		}
		f.Add(uint(i), "1", query.Encode(), form.Encode())
	}
	f.Add(uint(0), "%00", "a=%zz;&;", "%")
	f.Fuzz(func(t *testing.T, n uint, id, query, form string) {
		method, path, _ := strings.Cut(patterns[n%uint(len(patterns))], " ")
		path = pathParameter.ReplaceAllString(path, strings.ReplaceAll(url.PathEscape(id), "$", "$$"))
		r, err := http.NewRequestWithContext(t.Context(), method, p.URL+path, strings.NewReader(form))
		if err != nil {
			return
		}
		r.URL.RawQuery = url.PathEscape(query)
		if _, err := url.ParseQuery(query); err == nil && !strings.ContainsAny(query, " \r\n") {
			r.URL.RawQuery = query
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := client.Do(r)
		if err != nil {
			return // a redirect to nowhere is no error of the server
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		if err != nil || resp.StatusCode >= http.StatusInternalServerError && resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s %s?%q with %q: %s, %v\n%.500s", method, path, query, form, resp.Status, err, text)
		}
	})
}
