package domain

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Limits of the text fields, in characters.
const (
	MaxExternalID = 255
	MaxEmail      = 254
	MinEmail      = 3
	MaxName       = 255
	MaxTags       = 50
	MaxTag        = 64
)

// CheckExternalID checks a caller's own identifier. It is stored unchanged.
func CheckExternalID(s string) error {
	if err := CheckIdentifier(s); err != nil {
		return err
	}
	if s == "." || s == ".." {
		return errors.New("must not be \".\" or \"..\": it cannot be part of a URL path")
	}
	return nil
}

// CheckIdentifier checks an opaque identifier made elsewhere.
func CheckIdentifier(s string) error {
	if err := checkText(s); err != nil {
		return err
	}
	if s != strings.TrimSpace(s) {
		return errors.New("must not begin or end with white space")
	}
	return checkLength(s, 1, MaxExternalID)
}

// NormalizeEmail trims an address and checks its form.
func NormalizeEmail(s string) (string, error) {
	s = strings.TrimSpace(s)
	if err := checkText(s); err != nil {
		return "", err
	}
	if err := checkLength(s, MinEmail, MaxEmail); err != nil {
		return "", err
	}
	local, host, found := strings.Cut(s, "@")
	if !found || local == "" || host == "" || strings.Contains(host, "@") ||
		strings.ContainsAny(s, "<>,;:\"\\()[]") || strings.ContainsFunc(s, unicode.IsSpace) {
		return "", errors.New("must be a plain e-mail address such as anna@example.com")
	}
	return s, nil
}

// FoldEmail returns the form in which addresses are compared.
func FoldEmail(s string) string { return strings.ToLower(norm.NFC.String(s)) }

// NormalizeName trims and normalises a display name.
func NormalizeName(s string) (string, error) { return normalizeLabel(s, MaxName) }

// NormalizeTags trims, normalises and deduplicates, keeping the order of first appearance.
func NormalizeTags(in []string) ([]string, error) {
	out := make([]string, 0, len(in))
	seen := make(map[string]bool, len(in))
	for i, raw := range in {
		tag, err := normalizeLabel(raw, MaxTag)
		if err != nil {
			return nil, fmt.Errorf("item %d %w", i, err)
		}
		if !seen[tag] {
			seen[tag] = true
			out = append(out, tag)
		}
	}
	if len(out) > MaxTags {
		return nil, fmt.Errorf("must have at most %d tags, got %d", MaxTags, len(out))
	}
	return out, nil
}

func normalizeLabel(s string, most int) (string, error) {
	s = strings.TrimSpace(s)
	if err := checkText(s); err != nil {
		return "", err
	}
	s = norm.NFC.String(s)
	return s, checkLength(s, 1, most)
}

func checkText(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("must be valid UTF-8")
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			return fmt.Errorf("must not contain control characters (found U+%04X)", r)
		}
	}
	return nil
}

func checkLength(s string, least, most int) error {
	n := utf8.RuneCountInString(s)
	switch {
	case n == 0 && least > 0:
		return errors.New("must not be empty")
	case n < least:
		return fmt.Errorf("must have at least %d characters, got %d", least, n)
	case n > most:
		return fmt.Errorf("must have at most %d characters, got %d", most, n)
	}
	return nil
}
