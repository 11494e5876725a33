package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// MaxBody is the most bytes that a body may have.
const MaxBody = 1 << 20

// maxDepth is far beyond any body described in the contracts.
const maxDepth = 32

var errTooLarge = domain.Errorf(domain.CodeTooLarge, "The body is larger than 1 MiB. Split it into smaller requests.")

// readAll reads a body of at most MaxBody bytes. A body that announces more is
// refused unread, which spares a client that waits for "100 Continue" the sending.
func readAll(ctx context.Context, body io.Reader) ([]byte, error) {
	size := InfoFrom(ctx).Size
	if size > MaxBody {
		return nil, errTooLarge
	}
	var buf bytes.Buffer
	if size > 0 {
		buf.Grow(int(size) + bytes.MinRead)
	}
	_, err := buf.ReadFrom(io.LimitReader(body, MaxBody+1))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge) || buf.Len() > MaxBody:
		return nil, errTooLarge
	case err != nil:
		return nil, domain.Errorf(domain.CodeInvalid, "The body did not arrive whole. Send it again.").Because(err)
	}
	return bytes.TrimPrefix(buf.Bytes(), []byte("\ufeff")), nil
}

// scan refuses what a JSON parser would let through but no field of ours can
// hold: bytes that are not UTF-8, halves of surrogate pairs, absurd nesting.
func scan(data []byte) error {
	if !utf8.Valid(data) {
		return domain.Errorf(domain.CodeInvalid, "The body must be JSON in UTF-8; it has bytes that are not UTF-8.")
	}
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return domain.Errorf(domain.CodeInvalid, "The body is nested more than %d levels deep.", maxDepth)
			}
		case '}', ']':
			depth--
		case '"':
			n, whole := scanString(data[i+1:])
			if !whole {
				return domain.Errorf(domain.CodeInvalid, "The body has a \\u escape that is half of a surrogate pair.")
			}
			i += n
		}
	}
	return nil
}

// scanString gives the length of a string up to and with its closing quote, and
// whether its surrogate escapes come in pairs.
func scanString(s []byte) (n int, whole bool) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return i + 1, true
		case '\\':
			unit, ok := escape(s[i:])
			switch {
			case !ok:
				i++
			case !utf16.IsSurrogate(unit):
				i += 5
			default:
				low, _ := escape(s[i+6:])
				if utf16.DecodeRune(unit, low) == utf8.RuneError {
					return 0, false
				}
				i += 11
			}
		}
	}
	return len(s), true
}

// escape reads a \u escape. What is not one is the parser's business.
func escape(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var unit rune
	for _, c := range s[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		unit = unit<<4 | rune(c)
	}
	return unit, true
}

// malformed says where a body stops being JSON. The parser that reads bodies
// tells no position, so a second one is asked, on this path only.
func malformed(data []byte, cause error) error {
	var text json.RawMessage
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(data, &text), &syntax) {
		return domain.Errorf(domain.CodeInvalid, "The body is not valid JSON; see byte %d.", syntax.Offset).Because(cause)
	}
	return domain.Errorf(domain.CodeInvalid, "The body is not valid JSON.").Because(cause)
}
