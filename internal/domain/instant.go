package domain

import (
	"errors"
	"strings"
	"time"
)

const instantLayout = "2006-01-02T15:04:05.999-07:00"

// FormatInstant writes a date-time the way the API shows it: UTC, numeric
// offset, at most milliseconds.
func FormatInstant(t time.Time) string { return t.UTC().Format(instantLayout) }

// NormalizeTime returns t as it is stored: UTC, whole milliseconds.
func NormalizeTime(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

var (
	errInstant = errors.New("must be a date-time with a zone, such as 2026-11-14T09:30:00Z or 2026-11-14T12:30:00+03:00")
	errNoDay   = errors.New("must be a date-time that exists: there is no such day")
	errNoTime  = errors.New("must be a date-time that exists: there is no such time or offset")
	errYear    = errors.New("must lie between the years 1 and 9999")
)

// ParseInstant reads an RFC 3339 date-time with Z or any offset, in either case.
// time.Parse alone would also take one-digit hours, a comma before the fraction
// and an offset of a day, and no leap second, which is read as the second after it.
func ParseInstant(s string) (time.Time, error) {
	s = strings.ToUpper(s)
	if !hasInstantForm(s) {
		return time.Time{}, errInstant
	}
	leap := s[leapEnd-3:leapEnd] == ":60"
	if leap {
		s = s[:leapEnd-2] + "59" + s[leapEnd:]
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		if _, err := time.Parse(time.DateOnly, s[:len(time.DateOnly)]); err != nil {
			return time.Time{}, errNoDay
		}
		return time.Time{}, errNoTime
	}
	t = NormalizeTime(t)
	if leap {
		t = t.Truncate(time.Second).Add(time.Second)
	}
	if leap && t != t.Truncate(24*time.Hour) || !hasValidOffset(s) {
		return time.Time{}, errNoTime
	}
	if err := CheckInstant(t); err != nil {
		return time.Time{}, err
	}
	return t, nil
}

// CheckInstant refuses an instant that can't be written as RFC 3339. The last day of the
// year 9999 ends in the year 10000 in time zones to the west.
func CheckInstant(t time.Time) error {
	if year := t.UTC().Year(); year < 1 || year > 9999 {
		return errYear
	}
	return nil
}

const leapEnd = len("2006-01-02T15:04:60")

// hasInstantForm reports whether every digit and sign is in its place, whatever the
// numbers are.
func hasInstantForm(s string) bool {
	const begin, zulu, offset = "0000-00-00T00:00:00", "Z", "+00:00"
	if len(s) <= len(begin) || !matchesForm(s[:len(begin)], begin) {
		return false
	}
	rest := s[len(begin):]
	if rest[0] == '.' {
		zone := strings.TrimLeft(rest[1:], "0123456789")
		if len(zone) == len(rest)-1 {
			return false
		}
		rest = zone
	}
	return rest == zulu || matchesForm(strings.Replace(rest, "-", "+", 1), offset)
}

// matchesForm reports whether s has the form, in which 0 stands for any digit.
func matchesForm(s, form string) bool {
	if len(s) != len(form) {
		return false
	}
	for i := range len(s) {
		if digit := '0' <= s[i] && s[i] <= '9'; digit != (form[i] == '0') || !digit && s[i] != form[i] {
			return false
		}
	}
	return true
}

// hasValidOffset reports whether the offset is less than a day, and its minutes less
// than an hour.
func hasValidOffset(s string) bool {
	n := len(s)
	return s[n-1] == 'Z' || s[n-5:n-3] < "24" && s[n-2:] < "60"
}
