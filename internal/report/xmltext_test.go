package report

import (
	"encoding/xml"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAppendXML(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"plain", "Анна 🚒", "Анна 🚒"},
		{"markup", `<a href="x">&'`, `&lt;a href="x"&gt;&amp;'`},
		{"tab and LF", "a\tb\nc", "a\tb\nc"},
		{"CR", "a\r\nb", "a_x000D_\nb"},
		{"control", "a\x00\x1f", "a_x0000__x001F_"},
		{"no characters", "\uFFFE\uFFFF", "_xFFFE__xFFFF_"},
		{"full-width", "\uFF1D\uFEFF", "\uFF1D\uFEFF"},
		{"invalid UTF-8", "a\xffb\xc3", "a\uFFFDb\uFFFD"},
		{"surrogate half", "\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},
		{"escape look-alike", "_x0041_", "_x005F_x0041_"},
		{"two look-alikes in one", "_x0041_x0042_", "_x005F_x0041_x005F_x0042_"},
		{"escaped look-alike", "_x005F_x0041_", "_x005F_x005F_x005F_x0041_"},
		{"look-alike by what follows", "_x0041\x01", "_x005F_x0041_x0001_"},
		{"harmless underscores", "needs_retry _x _x00 _x0041", "needs_retry _x _x00 _x0041"},
	}
	for _, test := range tests {
		if got := string(appendXML(nil, test.text)); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

var escape = regexp.MustCompile(`_x[0-9A-Fa-f]{4}_`)

// unescape reads text as spreadsheets do.
func unescape(s string) string {
	return escape.ReplaceAllStringFunc(s, func(e string) string {
		n, _ := strconv.ParseUint(e[2:6], 16, 16)
		return string(rune(n))
	})
}

func TestXMLReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		var got string
		if err := xml.Unmarshal(append(appendXML([]byte("<t>"), text), "</t>"...), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(eachInvalid(text), unescape(got)); diff != "" {
			t.Fatalf("read back (-want +got):\n%s", diff)
		}
	})
}

// eachInvalid puts a U+FFFD for every invalid byte.
func eachInvalid(s string) string { return string([]rune(s)) }

func TestFit(t *testing.T) {
	t.Parallel()
	fill := func(n int) string { return strings.Repeat("x", n) }
	tests := []struct{ name, text, want string }{
		{"short", "abc", "abc"},
		{"just fits", fill(32767), fill(32767)},
		{"one too long", fill(32768), fill(32766) + "…"},
		{"many bytes, few units", strings.Repeat("Ж", 32767), strings.Repeat("Ж", 32767)},
		{"two units each", strings.Repeat("🚒", 16384), strings.Repeat("🚒", 16383) + "…"},
		{"pair over the edge", fill(32765) + "🚒🚒", fill(32765) + "…"},
		{"mark over the edge", fill(32765) + "e\u0301" + fill(9), fill(32765) + "…"},
		{"joined over the edge", fill(32763) + "👩\u200D🚒" + fill(9), fill(32763) + "…"},
		{"skin tone over the edge", fill(32764) + "👍\U0001F3FD" + fill(9), fill(32764) + "…"},
		{"nothing but marks", strings.Repeat("\u0301", 40000), strings.Repeat("\u0301", 32766) + "…"},
	}
	for _, test := range tests {
		got := truncateCell(test.text)
		if got != test.want {
			t.Errorf("%s: %d bytes ending in %q, want %d in %q", test.name, len(got), tail(got, 12), len(test.want),
				tail(test.want, 12))
		}
		if units := len(utf16.Encode([]rune(got))); units > maxCellUnits || !utf8.ValidString(got) {
			t.Errorf("%s: %d units", test.name, units)
		}
	}
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }
