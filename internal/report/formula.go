package report

import (
	"unicode"
	"unicode/utf8"
)

// runs reports whether a spreadsheet that is given s as typed input could take it for a formula. Spreadsheets pass
// over white space and invisible characters before the sign, and some take the full-width signs for the plain ones.
// A leading tab or line break counts too: it can push what follows into a cell of its own.
func runs(s string) bool {
	if s == "" {
		return false
	}
	switch c := s[0]; {
	case c == '\t' || c == '\r' || c == '\n':
		return true
	case c > ' ' && c < utf8.RuneSelf:
		return isSign(rune(c))
	}
	for _, r := range s {
		if !unicode.IsSpace(r) && !unicode.In(r, unicode.Cc, unicode.Cf) {
			return isSign(r)
		}
	}
	return false
}

func isSign(r rune) bool {
	switch r {
	case '=', '+', '-', '@', '\uFF1D', '\uFF0B', '\uFF0D', '\uFF20':
		return true
	}
	return false
}
