package view

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// formatCount writes a number with thousands separators.
func formatCount(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// FormatScore writes a score without needless decimals.
func FormatScore(score float64) string { return strconv.FormatFloat(score, 'f', -1, 64) }

// plural writes a number with its noun.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return formatCount(n) + " " + many
}

// formatDuration writes a duration in the unit that reads best.
func formatDuration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "under 1 ms"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	default:
		return strconv.FormatInt(int64(d/time.Minute), 10) + " min"
	}
}

// formatSize writes a number of bytes.
func formatSize(n int) string {
	if n < 1024 {
		return plural(int64(n), "byte", "bytes")
	}
	return strconv.FormatFloat(float64(n)/1024, 'f', 1, 64) + " KB"
}

// formatPercent writes a share of a whole. A part is never rounded to 0 % or 100 %.
func formatPercent(part, whole int64) string {
	if whole == 0 {
		return "–"
	}
	share := float64(part) / float64(whole) * 100
	if part > 0 && part < whole {
		share = min(max(share, 0.1), 99.9)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", share), ".0") + "%"
}

// shortURL shortens an address to its host and path.
func shortURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Host + strings.TrimSuffix(u.EscapedPath(), "/")
}

// joinWords writes a list as a sentence does: a, b and c.
func joinWords(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

func joinLines(words []string) string { return strings.Join(words, "\n") }

// personLabel names who made something: a person by address, the operator, who may be
// stored with a user name, by what it is.
func personLabel(label string) string {
	if label == "operator" || strings.HasPrefix(label, "operator ") {
		return "platform operator"
	}
	return label
}
