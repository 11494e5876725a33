package security

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// visitor is a browser in the cabinet.
type visitor struct {
	t      *testing.T
	base   string
	client *http.Client
}

func newVisitor(t *testing.T, base string) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t, base, &http.Client{Jar: jar}}
}

// page is what a request led to, after redirects.
type page struct {
	t    *testing.T
	path string
	text string
}

func (v *visitor) get(path string) page {
	v.t.Helper()
	return v.do(http.MethodGet, path, http.NoBody)
}

// post sends a form of name, value, name, value, …
func (v *visitor) post(path string, pairs ...string) page {
	v.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return v.do(http.MethodPost, path, strings.NewReader(form.Encode()))
}

func (v *visitor) do(method, path string, body io.Reader) page {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, body)
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	if resp.StatusCode >= http.StatusInternalServerError {
		v.t.Errorf("%s %s: %s", method, path, resp.Status)
	}
	return page{v.t, path, html.UnescapeString(string(raw))}
}

func (v *visitor) cookies() []*http.Cookie {
	v.t.Helper()
	u, err := url.Parse(v.base)
	if err != nil {
		v.t.Fatal(err)
	}
	return v.client.Jar.Cookies(u)
}

// find returns the first group of a pattern in the page.
func (p page) find(pattern string) string {
	p.t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(p.text)
	if m == nil {
		p.t.Fatalf("%s: nothing matches %s:\n%.2000s", p.path, pattern, p.text)
	}
	return m[1]
}

func (p page) secret() string { p.t.Helper(); return p.find(`data-secret>([^<]+)<`) }
