package httpapi

import (
	"bytes"
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

var (
	errUTF8      = errors.New("must be valid UTF-8")
	errSurrogate = errors.New("must not contain half of a surrogate pair; send both halves or the character itself")
)

// validText refuses strings that the JSON parser accepts but that are not valid
// text: invalid UTF-8 and unpaired surrogates. It is called for the fields that are
// read, so that a bad string affects neither other items nor ignored fields.
func validText(raw []byte) error {
	if !utf8.Valid(raw) {
		return errUTF8
	}
	for s := raw; ; {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			return nil
		}
		s = s[i:]
		unit, ok := parseUnicodeEscape(s)
		switch {
		case !ok:
			s = s[min(2, len(s)):]
		case !utf16.IsSurrogate(unit):
			s = s[6:]
		default:
			low, _ := parseUnicodeEscape(s[6:])
			if utf16.DecodeRune(unit, low) == utf8.RuneError {
				return errSurrogate
			}
			s = s[12:]
		}
	}
}

// parseUnicodeEscape reads a \u parseUnicodeEscape. What is not one is the parser's business.
func parseUnicodeEscape(s []byte) (rune, bool) {
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
