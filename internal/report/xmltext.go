package report

import (
	"unicode"
	"unicode/utf8"
)

// maxCellUnits is how many UTF-16 units a spreadsheet's cell holds.
const maxCellUnits = 32767

// xmlSpecial marks the bytes that appendXML has to look at more closely: markup, control characters, the start of
// what could be an escape, and the first byte of U+FFFE and U+FFFF.
var xmlSpecial = func() (t [256]bool) {
	for c := range ' ' {
		t[c] = c != '\t' && c != '\n'
	}
	t['<'], t['>'], t['&'], t['_'], t[0xEF] = true, true, true, true, true
	return t
}()

// appendXML writes s as the content of an element. Characters that XML cannot hold, and CR, which XML readers turn
// into LF, become _xHHHH_, the escape of spreadsheets; text that only looks like that escape is escaped too.
func appendXML(b []byte, s string) []byte {
	ascii := true
	for i := range len(s) {
		if xmlSpecial[s[i]] {
			return appendXMLEscaped(b, s)
		}
		if s[i] >= utf8.RuneSelf {
			ascii = false
		}
	}
	if !ascii && !utf8.ValidString(s) {
		return appendXMLEscaped(b, s)
	}
	return append(b, s...)
}

func appendXMLEscaped(b []byte, s string) []byte {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '<':
			b = append(b, "&lt;"...)
		case r == '>':
			b = append(b, "&gt;"...)
		case r == '&':
			b = append(b, "&amp;"...)
		case needsHex(r):
			b = appendHex(b, r)
		case r == '_' && looksEscaped(s[i:]):
			b = appendHex(b, r)
		default:
			b = utf8.AppendRune(b, r) // an invalid byte becomes U+FFFD
		}
		i += size
	}
	return b
}

func needsHex(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' || r == 0xFFFE || r == 0xFFFF
}

// looksEscaped reports whether s, which starts with an underscore, would be read as an escape once it is written:
// the underscore that ends one may be that of the character escaped next.
func looksEscaped(s string) bool {
	if len(s) < 7 || s[1] != 'x' {
		return false
	}
	for _, c := range []byte(s[2:6]) {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') { // some readers do not stop at f
			return false
		}
	}
	next, _ := utf8.DecodeRuneInString(s[6:])
	return next == '_' || needsHex(next)
}

func appendHex(b []byte, r rune) []byte {
	const digits = "0123456789ABCDEF"
	return append(b, '_', 'x', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15], '_')
}

// truncateCell cuts s to what a cell holds, with an ellipsis in place of the rest.
func truncateCell(s string) string {
	if len(s) <= maxCellUnits {
		return s
	}
	units, cut := 0, 0
	for i, r := range s {
		if units < maxCellUnits {
			cut = i
		}
		if units++; r > 0xFFFF {
			units++
		}
	}
	if units <= maxCellUnits {
		return s
	}
	return s[:characterStart(s, cut)] + "…"
}

// characterStart returns the last place at or before cut that does not separate a character from its marks and
// joiners. Text that consists only of marks is cut at cut.
func characterStart(s string, cut int) int {
	const longest = 64
	at := cut
	for cut-at < longest {
		next, _ := utf8.DecodeRuneInString(s[at:])
		last, size := utf8.DecodeLastRuneInString(s[:at])
		if !isCombining(next) && last != zeroWidthJoiner {
			return at
		}
		at -= size
	}
	return cut
}

const zeroWidthJoiner = '\u200D'

func isCombining(r rune) bool {
	const firstSkinTone, lastSkinTone = '\U0001F3FB', '\U0001F3FF'
	return r == zeroWidthJoiner || unicode.Is(unicode.M, r) || r >= firstSkinTone && r <= lastSkinTone
}
