package httpapi

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// infoWithSize returns the Info of a request with this Content-Length.
func infoWithSize(announced int64) *Info { return &Info{Size: announced} }

// bodyOfSize returns a body of exactly n bytes.
func bodyOfSize(n int) string {
	const frame = `{"a":""}`
	return `{"a":"` + strings.Repeat("x", n-len(frame)) + `"}`
}

func TestReadObjectSizes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		announced int64
		body      io.Reader
		want      domain.Code
	}{
		{"small", 8, strings.NewReader(bodyOfSize(8)), ""},
		{"small and unannounced", -1, strings.NewReader(bodyOfSize(8)), ""},
		{"just fits", MaxBody, strings.NewReader(bodyOfSize(MaxBody)), ""},
		{"just fits, unannounced", -1, iotest.OneByteReader(strings.NewReader(bodyOfSize(MaxBody))), ""},
		{"a byte too many", MaxBody + 1, strings.NewReader(bodyOfSize(MaxBody + 1)), domain.CodeTooLarge},
		{"a byte too many, unannounced", -1, strings.NewReader(bodyOfSize(MaxBody + 1)), domain.CodeTooLarge},
		{"announced and never sent", 1 << 40, iotest.ErrReader(errors.New("read")), domain.CodeTooLarge},
		{"stopped by the server", -1, iotest.ErrReader(&http.MaxBytesError{Limit: MaxBody}), domain.CodeTooLarge},
		{"without end", -1, endlessReader{}, domain.CodeTooLarge},
		{"cut off", 100, io.MultiReader(strings.NewReader(`{"a":`), iotest.ErrReader(io.ErrUnexpectedEOF)), domain.CodeInvalid},
		{"behind a byte order mark", -1, strings.NewReader("\ufeff{}"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			info := infoWithSize(c.announced)
			_, err := ReadObject(info, c.body)
			if bytes.HasPrefix(info.Body, []byte("\ufeff")) {
				t.Error("the request log gets the mark too, and can't read what follows")
			}
			if c.want == "" && err != nil || c.want != "" && domain.CodeOf(err) != c.want {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A compressed body is called what it is.
func TestCompressedBody(t *testing.T) {
	t.Parallel()
	const packed = "compressed"
	for _, c := range []struct{ name, encoding, body, want string }{
		{"gzip", "gzip", "\x1f\x8b\x08\x00\x00", packed},
		{"gzip, unannounced", "", "\x1f\x8b\x08\x00\x00", packed},
		{"another coding", "br", "\x8b\x02\x80{}\x03", packed},
		{"announced only", "gzip", "{}", ""},
		{"announced only, and broken", "gzip", "{", "not valid JSON"},
		{"no coding", "identity", "\x8b\x02", "not UTF-8"},
	} {
		info := &Info{Size: -1, RequestHeader: http.Header{"Content-Encoding": {c.encoding}}}
		for _, read := range []func(*Info, io.Reader) (*Object, error){ReadObject, ReadOptionalObject} {
			_, err := read(info, strings.NewReader(c.body))
			if c.want == "" && err != nil || c.want != "" && (domain.CodeOf(err) != domain.CodeInvalid || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

type endlessReader struct{}

func (endlessReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestReadOptionalObject(t *testing.T) {
	t.Parallel()
	for text, valid := range map[string]bool{"": true, " \n": true, "{}": true, `{"a":1}`: true, "null": false, "[]": false, "x": false} {
		o, err := ReadOptionalObject(infoWithSize(-1), strings.NewReader(text))
		if (err == nil) != valid || valid && o == nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ReadObject(infoWithSize(0), http.NoBody); domain.CodeOf(err) != domain.CodeInvalid {
		t.Errorf("no body where one is needed: %v", err)
	}
	_, err := ReadOptionalObject(infoWithSize(-1), iotest.ErrReader(io.ErrUnexpectedEOF))
	if domain.CodeOf(err) != domain.CodeInvalid || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a body cut off is no empty body: %v", err)
	}
}
