package httpapi

import (
	"bytes"
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

var (
	errUTF8 = errors.New("must be valid UTF-8")
	errHalf = errors.New("must not contain half of a surrogate pair; send both halves or the character itself")
)

// sound refuses a string that a JSON parser would let through but no field of
// ours can hold. It looks at what is read only: a bad string must not harm the
// items beside its own, nor matter in a field that nobody asks for.
func sound(raw []byte) error {
	if !utf8.Valid(raw) {
		return errUTF8
	}
	for s := raw; ; {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			return nil
		}
		s = s[i:]
		unit, ok := escape(s)
		switch {
		case !ok:
			s = s[min(2, len(s)):]
		case !utf16.IsSurrogate(unit):
			s = s[6:]
		default:
			low, _ := escape(s[6:])
			if utf16.DecodeRune(unit, low) == utf8.RuneError {
				return errHalf
			}
			s = s[12:]
		}
	}
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
