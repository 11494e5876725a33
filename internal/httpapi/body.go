package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
	// maxEntries is how many entries the lists of a body may have. The longest one of the
	// contracts has 1000.
	maxEntries = 50_000
	// firstRead is the most memory that is reserved for a body before it arrives.
	firstRead = 64 << 10
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

// readBody reads a body of at most MaxBody bytes. A body with a larger
// Content-Length is refused unread, so that a client that waits for "100 Continue"
// need not send it. It keeps what arrived in info.Body, also after an error. An error
// with the code unavailable comes from the body itself: package server cuts off a
// request that keeps others waiting.
func readBody(info *Info, body io.Reader) ([]byte, error) {
	size := info.Size
	if size > MaxBody {
		return nil, errTooLarge
	}
	var buf bytes.Buffer
	buf.Grow(int(min(max(size, 0), firstRead)) + bytes.MinRead)
	_, err := buf.ReadFrom(io.LimitReader(body, firstRead))
	if err == nil && buf.Len() == firstRead {
		if size > firstRead { // the client does send what it announced
			buf.Grow(int(size) - firstRead + bytes.MinRead)
		}
		_, err = buf.ReadFrom(io.LimitReader(body, MaxBody+1-firstRead))
	}
	info.Body = bytes.TrimPrefix(buf.Bytes(), []byte("\ufeff"))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge) || buf.Len() > MaxBody:
		return nil, errTooLarge
	case domain.CodeOf(err) == domain.CodeUnavailable:
		return nil, err
	case err != nil:
		return nil, domain.Errorf(domain.CodeInvalid, "The body was cut off on its way. Send it again.").WithCause(err)
	}
	return info.Body, nil
}

// checkShape refuses deep nesting before a parser recurses into it, and very long lists
// before parsing them uses processor time that other requests need: 520,000 numbers,
// which fit into 1 MiB, took 30 ms to parse and take half a millisecond to refuse.
func checkShape(data []byte) error {
	depth, entries := 0, 0
	var isList [maxDepth + 1]bool // by depth
	var name []byte               // the latest string of the outermost object, so the name of the field that is read
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case ',':
			if !isList[depth] {
				continue
			}
			if entries++; entries >= maxEntries {
				return tooManyEntries(name)
			}
		case '{', '[':
			if depth++; depth > maxDepth {
				return domain.Errorf(domain.CodeInvalid, "The body is nested more than %d levels deep. Every operation needs fewer; check how it is built.", maxDepth)
			}
			isList[depth] = data[i] == '['
		case '}', ']':
			depth = max(depth-1, 0)
		case '"':
			begin := i + 1
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			if depth == 1 {
				name = data[min(begin, len(data)):min(i, len(data))]
			}
		}
	}
	return nil
}

// tooManyEntries returns the error of a very long list in the field.
func tooManyEntries(field []byte) error {
	if len(field) == 0 || len(field) > 64 {
		return domain.Errorf(domain.CodeInvalid, "The lists of the body have more than %d entries. Split it into smaller requests.", maxEntries)
	}
	return domain.Invalid(domain.FieldError{
		Field: string(field), Message: fmt.Sprintf("has more than %d entries; split it into smaller requests", maxEntries),
	})
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
		return domain.Errorf(domain.CodeInvalid, "The body is not valid JSON: there is a syntax error at byte %d. Correct it and send the request again.", syntax.Offset).WithCause(cause)
	}
	return domain.Errorf(domain.CodeInvalid, "The body is not valid JSON. Send one JSON object.").WithCause(cause)
}
