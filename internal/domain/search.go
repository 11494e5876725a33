package domain

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// A search finds what begins with its text, whatever the case. Names are compared
// as FoldName returns them and addresses as FoldEmail does. Identifiers are compared
// as FoldID returns them: only the letters A to Z are folded, as both databases do
// it in an index, so that no second copy of them has to be stored.

// MaxSearch is the number of characters of a search that are used.
const MaxSearch = 100

// FoldName returns the form of a name that searches compare: normalised, in lower
// case, with single spaces.
func FoldName(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFC.String(s))), " ")
}

// FoldLastName returns the folded name with its last word first, so that a search
// by family name finds it. It is empty for a single word.
func FoldLastName(s string) string {
	folded := FoldName(s)
	i := strings.LastIndexByte(folded, ' ')
	if i < 0 {
		return ""
	}
	return folded[i+1:] + " " + folded[:i]
}

// FoldID returns an identifier with the letters A to Z in lower case.
func FoldID(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// CleanSearch returns the text of a search as it is used: without spaces around it
// and not longer than MaxSearch characters.
func CleanSearch(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(strings.TrimSpace(s), "\x00", ""), "")
	if runes := []rune(s); len(runes) > MaxSearch {
		s = string(runes[:MaxSearch])
	}
	return s
}

// AfterPrefix returns a text that is greater than all texts with a prefix, byte by byte.
func AfterPrefix(prefix string) string { return prefix + "\U0010FFFF" }

// MatchesSearch reports whether one of the texts, or a word of one, begins with what
// is searched for. It is for lists that are short enough to be held in memory.
func MatchesSearch(search string, texts ...string) bool {
	search = FoldName(search)
	for _, text := range texts {
		text = FoldName(text)
		if strings.HasPrefix(text, search) || strings.Contains(text, " "+search) {
			return true
		}
	}
	return false
}
