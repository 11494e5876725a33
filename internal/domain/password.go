package domain

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Limits of a password, in characters.
const (
	MinPassword = 12
	MaxPassword = 256
)

// minVariety is how many different characters a password must have.
const minVariety = 5

// NormalizePassword returns the canonical (NFC) form of a password, which may be
// typed in several.
func NormalizePassword(s string) string { return norm.NFC.String(s) }

// CheckPassword refuses a password that a guesser would try early.
func CheckPassword(password, email string) error {
	password = NormalizePassword(password)
	if !utf8.ValidString(password) {
		return errors.New("must be valid UTF-8")
	}
	switch n := utf8.RuneCountInString(password); {
	case n < MinPassword:
		return fmt.Errorf("use at least %d characters", MinPassword)
	case n > MaxPassword:
		return fmt.Errorf("use at most %d characters", MaxPassword)
	}
	folded, address := strings.ToLower(password), FoldEmail(email)
	local, _, _ := strings.Cut(address, "@")
	core := strings.TrimFunc(folded, func(r rune) bool { return !unicode.IsLetter(r) })
	switch {
	case address != "" && (folded == address || core == local):
		return errors.New("must not be the e-mail address")
	case countDistinctRunes(folded) < minVariety, isKeyboardRun(folded), commonPasswords[core], commonPasswords[folded]:
		return errors.New("is too easy to guess; a few words that don't belong together make a good one")
	}
	return nil
}

func countDistinctRunes(s string) int {
	seen := map[rune]bool{}
	for _, r := range s {
		seen[r] = true
	}
	return len(seen)
}

// isKeyboardRun reports whether s consists of neighbouring keys: each character
// follows the one before it in the alphabet, the digits or a row of the keyboard.
func isKeyboardRun(s string) bool {
	const rows = "abcdefghijklmnopqrstuvwxyz 01234567890 qwertyuiop asdfghjkl zxcvbnm `1234567890-="
	breaks, last := 0, rune(-1)
	for _, r := range s {
		if last >= 0 && !strings.Contains(rows, string(last)+string(r)) && !strings.Contains(rows, string(r)+string(last)) {
			breaks++
		}
		last = r
	}
	return breaks <= 2
}

// commonPasswords are the words at the top of every list of leaked passwords,
// without the digits and signs around them.
var commonPasswords = func() map[string]bool {
	words := `password passwort passwords passw0rd p@ssword p@ssw0rd pa$$word mypassword thepassword newpassword
		passwordpassword password1password qwerty qwertyuiop qwertyqwerty qwertyuiopasdfgh asdfgh asdfghjkl zxcvbnm
		azerty admin administrator adminadmin rootroot letmein letmeinplease welcome welcomeback welcomehome iloveyou
		iloveyouso monkey dragon football baseball basketball superman batman princess sunshine shadow master trustno
		whatever starwars michael jennifer charlie summer winter spring autumn january february october november
		december company secret secretpassword changeme changemenow changeit default temporary temppass test testtest
		testing guest login access coursebridge learning cabinet correcthorsebatterystaple correct horse battery staple
		abcdefghijkl abcabcabcabc qazwsxedc qazwsxedcrfv 1qaz2wsx3edc 1q2w3e4r5t6y 1q2w3e4r5t 123qweasdzxc qwe123qwe123 q1w2e3r4t5y6`
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	out["correct horse battery staple"] = true
	return out
}()
