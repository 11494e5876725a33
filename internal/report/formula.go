package report

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// looksLikeFormula reports whether a spreadsheet could read s as a formula. Spreadsheets skip white space and invisible
// characters before the sign, and some read full-width signs as plain ones. A leading tab or line break counts too: it can
// move the rest into a cell of its own.
func looksLikeFormula(s string) bool {
	if s == "" {
		return false
	}
	switch c := s[0]; {
	case c == '\t' || c == '\r' || c == '\n':
		return true
	case c > ' ' && c < utf8.RuneSelf:
		return isFormulaSign(rune(c))
	}
	for _, r := range s {
		if !unicode.IsSpace(r) && !unicode.In(r, unicode.Cc, unicode.Cf) {
			return isFormulaSign(r)
		}
	}
	return false
}

func isFormulaSign(r rune) bool {
	switch r {
	case '=', '+', '-', '@', '\uFF1D', '\uFF0B', '\uFF0D', '\uFF20':
		return true
	}
	return false
}

// guardSemicolons puts an apostrophe between a semicolon and what would be a formula after it. Excel splits CSV files at
// semicolons where the comma is the decimal sign, so that text after one becomes a cell of its own.
func guardSemicolons(s string) string {
	if !strings.Contains(s, ";") {
		return s
	}
	parts := strings.Split(s, ";")
	for i := range parts[1:] {
		if looksLikeFormula(parts[i+1]) {
			parts[i+1] = "'" + parts[i+1]
		}
	}
	return strings.Join(parts, ";")
}

// GuardFormula returns s as a cell of a CSV file that no spreadsheet runs, also where it splits cells at semicolons.
func GuardFormula(s string) string {
	s = guardSemicolons(s)
	if looksLikeFormula(s) {
		s = "'" + s
	}
	return s
}
