package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// MaxBody is the most bytes that a body may have.
const MaxBody = 1 << 20

const (
	// maxDepth is far beyond any body described in the contracts.
	maxDepth = 32
	// maxValues is how many values a body may have. The largest body of the contracts,
	// 1000 activities, has 7000.
	maxValues = 50_000
)

var errTooLarge = domain.Errorf(domain.CodeTooLarge, "The body is larger than 1 MiB. Split it into smaller requests.")

var errCompressed = domain.Errorf(domain.CodeInvalid, "The body is compressed, which is not supported. Send it as plain JSON, without Content-Encoding.")

// isCompressed reports whether a body that is not JSON was compressed.
func isCompressed(info *Info, data []byte) bool {
	if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		return true // gzip
	}
	coding := info.RequestHeader.Get("Content-Encoding")
	return coding != "" && !strings.EqualFold(coding, "identity") && !utf8.Valid(data)
}

// readAll reads a body of at most MaxBody bytes. A body with a larger
// Content-Length is refused unread, so that a client that waits for "100 Continue"
// need not send it.
func readAll(info *Info, body io.Reader) ([]byte, error) {
	size := info.Size
	if size > MaxBody {
		return nil, errTooLarge
	}
	var buf bytes.Buffer
	if size > 0 {
		buf.Grow(int(size) + bytes.MinRead)
	}
	_, err := buf.ReadFrom(io.LimitReader(body, MaxBody+1))
	info.Body = buf.Bytes()
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge) || buf.Len() > MaxBody:
		return nil, errTooLarge
	case err != nil:
		return nil, domain.Errorf(domain.CodeInvalid, "The body did not arrive whole. Send it again.").WithCause(err)
	}
	return bytes.TrimPrefix(buf.Bytes(), []byte("\ufeff")), nil
}

// checkShape refuses deep nesting before a parser recurses into it, and so many values
// that parsing them would take a processor from others for long: 520,000 of them, which
// fit into 1 MiB, took 70 ms, and take 1 ms to refuse.
func checkShape(data []byte) error {
	depth, values := 0, 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case ',':
			if values++; values >= maxValues {
				return domain.Errorf(domain.CodeInvalid, "The body has more than %d values. Split it into smaller requests.", maxValues)
			}
		case '{', '[':
			if depth++; depth > maxDepth {
				return domain.Errorf(domain.CodeInvalid, "The body is nested more than %d levels deep. Every operation needs fewer; check how it is built.", maxDepth)
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		}
	}
	return nil
}

// syntaxError returns an error with the position at which a body stops being
// JSON. The parser that reads bodies does not report it, so encoding/json is used
// for this case.
func syntaxError(data []byte, cause error) error {
	if !utf8.Valid(data) {
		return domain.Errorf(domain.CodeInvalid, "The body must be JSON in UTF-8; it has bytes that are not UTF-8. Encode it again.").WithCause(cause)
	}
	var text json.RawMessage
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(data, &text), &syntax) {
		return domain.Errorf(domain.CodeInvalid, "The body is not valid JSON; see byte %d. Mend it there and send it again.", syntax.Offset).WithCause(cause)
	}
	return domain.Errorf(domain.CodeInvalid, "The body is not valid JSON. Send one JSON object.").WithCause(cause)
}
