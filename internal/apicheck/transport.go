package apicheck

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Transport validates the answers of both APIs that pass through it, and reports to the
// test which of them the documents do not declare. It leaves alone what is not an
// operation, such as the cabinet, and what a proxy answers in place of the program.
type Transport struct {
	tb               testing.TB
	next             http.RoundTripper
	public, platform *Document
}

// NewTransport returns a Transport that sends requests by next.
func NewTransport(tb testing.TB, next http.RoundTripper) *Transport {
	tb.Helper()
	public, platform, err := Documents()
	if err != nil {
		tb.Fatal(err)
	}
	return &Transport{tb, next, public, platform}
}

// RoundTrip sends a request and checks the answer.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		return resp, err
	}
	for _, d := range []*Document{t.public, t.platform} {
		path, ok := strings.CutPrefix(r.URL.EscapedPath(), d.Base)
		isOperation := ok && (d.Find(r.Method, path) != nil || resp.StatusCode >= http.StatusBadRequest)
		byProxy := resp.StatusCode >= http.StatusBadGateway && resp.Header.Get("X-Request-Id") == ""
		if !isOperation || byProxy {
			continue
		}
		a := Answer{Method: r.Method, Path: path, Status: resp.StatusCode, Header: resp.Header}
		if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
			a.Text = keepBody(resp)
		}
		_, problems := d.Check(a)
		for _, problem := range problems {
			t.tb.Errorf("%s %s: %s", r.Method, r.URL, problem)
		}
	}
	return resp, nil
}

// keepBody reads the body of a response and leaves it, with the error that ended it, to
// the client. It returns nil if the body did not arrive whole.
func keepBody(resp *http.Response) []byte {
	text, err := io.ReadAll(resp.Body)
	err = errors.Join(err, resp.Body.Close())
	resp.Body = io.NopCloser(bytes.NewReader(text))
	if err != nil {
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(text), failing{err}))
		return nil
	}
	return text
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
