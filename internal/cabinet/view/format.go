package view

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// count writes a number with its thousands apart.
func count(n int64) string {
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

// plural writes a number with its noun.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// took writes a duration in the unit that reads best.
func took(d time.Duration) string {
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

// size writes a number of bytes.
func size(n int) string {
	if n < 1024 {
		return plural(int64(n), "byte", "bytes")
	}
	return strconv.FormatFloat(float64(n)/1024, 'f', 1, 64) + " KB"
}

// percent writes a share of a whole; a part is never shown as nothing or all.
func percent(part, whole int64) string {
	if whole == 0 {
		return "–"
	}
	share := float64(part) / float64(whole) * 100
	if part > 0 && part < whole {
		share = min(max(share, 0.1), 99.9)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", share), ".0") + "%"
}

// target shortens an address to what tells endpoints apart: host and path.
func target(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Host + strings.TrimSuffix(u.EscapedPath(), "/")
}

// join writes a list as a sentence does: a, b and c.
func join(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

func lines(words []string) string { return strings.Join(words, "\n") }
