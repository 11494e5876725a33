package domain_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Normalising a normalised text does not change it, nor does folding a folded address.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"anna@example.com", " Anna@EXAMPLE.com ", "a\u0301@x.y", "\u212b@x.y", "\u0130@x.y", "a@b@c", "<a@b>", "\u2000x", "\xff", "x\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for what, normalize := range map[string]func(string) (string, error){"email": domain.NormalizeEmail, "name": domain.NormalizeName} {
			once, err := normalize(s)
			if err != nil {
				continue
			}
			if again, err := normalize(once); err != nil || again != once || !utf8.ValidString(once) {
				t.Errorf("%s: %q becomes %q and then %q, %v", what, s, once, again, err)
			}
		}
		if _, err := domain.NormalizeEmail(s); err == nil {
			folded := domain.FoldEmail(s)
			if again := domain.FoldEmail(folded); again != folded {
				t.Errorf("%q is folded to %q and then to %q", s, folded, again)
			}
		}
		if tags, err := domain.NormalizeTags([]string{s, s}); err == nil && len(tags) != 1 {
			t.Errorf("the tag %q is kept twice: %q", s, tags)
		}
		if domain.CheckExternalID(s) == nil && (s == "" || s == "." || strings.ContainsAny(s, "\x00\r\n")) {
			t.Errorf("%q is accepted as an external id", s)
		}
	})
}

// An instant that is accepted can be written and read again.
func FuzzParseInstant(f *testing.F) {
	for _, seed := range []string{"2026-11-14T09:30:00Z", "2016-12-31T23:59:60Z", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999-12:00", "2026-02-30t00:00:00z"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, err := domain.ParseInstant(s)
		if err != nil {
			return
		}
		if again, err := domain.ParseInstant(domain.FormatInstant(at)); err != nil || !again.Equal(at) {
			t.Errorf("%q is read as %s, which is read as %s, %v", s, at, again, err)
		}
	})
}

// A range that is accepted can be written and read again.
func FuzzParsePrefixes(f *testing.F) {
	for _, seed := range []string{"203.0.113.7", "203.0.113.0/24\n\n2001:db8::/32", "::ffff:10.0.0.1", "fe80::1%eth0", "0.0.0.0/0", "::ffff:10.0.0.0/104"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		prefixes, err := domain.ParsePrefixes(strings.Split(text, "\n"))
		if err != nil {
			return
		}
		for _, p := range prefixes {
			again, err := domain.ParsePrefixes([]string{p.String()})
			if err != nil || len(again) != 1 || again[0] != p || !p.IsValid() || p.Addr().Is4In6() {
				t.Errorf("%q holds %s, which is read as %v, %v", text, p, again, err)
			}
		}
	})
}

// The name of a time zone is part of a path: it must not leave the folder of zones.
func FuzzCheckTimeZone(f *testing.F) {
	for _, seed := range []string{"Europe/Riga", "UTC", "Local", "", "../../etc/passwd", "/etc/localtime", "Europe\\Riga", "europe/riga", "Etc/GMT+5"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if domain.CheckTimeZone(name) == nil && (name == "" || name == "Local" || strings.Contains(name, "..") || name[0] == '/' || strings.ContainsRune(name, '\\')) {
			t.Errorf("%q is accepted as a time zone", name)
		}
	})
}

// Secrets that strangers type are looked up by their hash, or refused.
func FuzzTypedSecrets(f *testing.F) {
	f.Add(domain.GenerateToken())
	f.Add(domain.GenerateLink(domain.LinkOperator))
	f.Add("abcd-efgh-ijkl-mnop")
	f.Add("1:2")
	f.Fuzz(func(t *testing.T, s string) {
		if _, ok := domain.HashToken(s); ok && !strings.HasPrefix(s, "cb_") {
			t.Errorf("%q is taken for a token", s)
		}
		if _, kind, ok := domain.ParseLink(s); ok && kind != domain.LinkOperator && kind != domain.LinkInvitation {
			t.Errorf("%q is taken for a link of the kind %q", s, kind)
		}
		domain.HashRecoveryCode(s)
		if key, err := domain.ParseEndpointKey(s); err == nil {
			if again, err := domain.ParseEndpointKey(key.String()); err != nil || again != key {
				t.Errorf("%q is read as %v and then as %v, %v", s, key, again, err)
			}
		}
	})
}
