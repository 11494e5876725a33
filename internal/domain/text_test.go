package domain_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestExternalID(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"1", "E-1", "provision", "a/b", "100%", "a?b#c", "a+b c", "Ёлка", "👩‍🚀", "...", "ＡＢＣ", strings.Repeat("ж", 255), "e\u0301",
	} {
		if err := domain.CheckExternalID(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", " ", " a", "a ", "a\n", "\u00a0a", ".", "..", "a\x00b", "a\x1fb", "a\u0085b", "a\x7f", "\xff", "a\xc3", strings.Repeat("ж", 256),
	} {
		if err := domain.CheckExternalID(bad); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
	if err := domain.CheckIdentifier(".."); err != nil {
		t.Error("an identifier that no path carries may be \"..\":", err)
	}
}

func TestEmail(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a@b": "a@b", " Anna@Example.COM\t": "Anna@Example.COM", "анна@пример.рф": "анна@пример.рф", "o'neil+x@a-b.test": "o'neil+x@a-b.test",
		strings.Repeat("a", 252) + "@b": strings.Repeat("a", 252) + "@b",
	} {
		if got, err := domain.NormalizeEmail(in); got != want || err != nil {
			t.Errorf("Email(%q) = %q, %v", in, got, err)
		}
	}
	for _, bad := range []string{
		"", "ab", "@b", "a@", "a@b@c", "a b@c", "a@b c", "Anna <a@b.test>", "a@b,c@d", "\"a\"@b", "a@[::1]", "a\x00@b", "a@\xff", "a\u2003b@c",
		strings.Repeat("a", 253) + "@b",
	} {
		if got, err := domain.NormalizeEmail(bad); err == nil {
			t.Errorf("Email(%q) = %q", bad, got)
		}
	}
}

func TestFoldEmail(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"Anna@Example.com", "anna@example.COM"}, {"ЁЖ@Почта.рф", "ёж@почта.РФ"}, {"Jose\u0301@x.test", "JOSÉ@X.TEST"},
	} {
		if domain.FoldEmail(pair[0]) != domain.FoldEmail(pair[1]) {
			t.Errorf("%q and %q are one address", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{{"a@x.test", "a.b@x.test"}, {"a@x.test", "a+b@x.test"}, {"e@x.test", "é@x.test"}} {
		if domain.FoldEmail(pair[0]) == domain.FoldEmail(pair[1]) {
			t.Errorf("%q and %q are two addresses", pair[0], pair[1])
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 255)
	for in, want := range map[string]string{
		"Anna": "Anna", "  Anna  Bell \n": "Anna  Bell", "Jose\u0301": "José", "Ünï=cödé <b>": "Ünï=cödé <b>",
		strings.Repeat("e\u0301", 255): long, // counted as stored
	} {
		if got, err := domain.NormalizeName(in); got != want || err != nil {
			t.Errorf("Name(%q) = %q, %v", in, got, err)
		}
	}
	for _, bad := range []string{"", "   ", "\u3000", "a\x00", "a\tb", "a\nb", "a\u009fb", "\xed\xa0\x80", "a\xff", long + "é"} {
		if got, err := domain.NormalizeName(bad); err == nil {
			t.Errorf("Name(%q) = %q", bad, got)
		}
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	got, err := domain.NormalizeTags([]string{" b ", "a", "b", "A", "e\u0301", "é", "b"})
	if diff := cmp.Diff([]string{"b", "a", "A", "é"}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if got, err := domain.NormalizeTags(nil); got == nil || len(got) != 0 || err != nil {
		t.Errorf("no tags: %#v, %v", got, err)
	}
	fifty := make([]string, 50)
	for i := range fifty {
		fifty[i] = string(rune('A' + i))
	}
	if _, err := domain.NormalizeTags(append(slices.Clone(fifty), fifty...)); err != nil {
		t.Error("fifty, each twice:", err)
	}
	for name, bad := range map[string][]string{
		"one too many": append(slices.Clone(fifty), "more"), "empty": {"a", ""}, "blank": {" "}, "control": {"a\x01"},
		"long": {strings.Repeat("x", 65)}, "broken": {"\xff"},
	} {
		if got, err := domain.NormalizeTags(bad); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	if _, err := domain.NormalizeTags([]string{strings.Repeat("ж", 64)}); err != nil {
		t.Error("64 characters:", err)
	}
}
