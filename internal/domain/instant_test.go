package domain_test

import (
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestParseInstant(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2026-11-14T09:30:00Z":                "2026-11-14T09:30:00+00:00",
		"2026-11-14T12:30:00+03:00":           "2026-11-14T09:30:00+00:00",
		"2026-11-14T04:00:00-05:30":           "2026-11-14T09:30:00+00:00",
		"2026-11-14T09:30:00.5Z":              "2026-11-14T09:30:00.5+00:00",
		"2026-11-14T09:30:00.123456789Z":      "2026-11-14T09:30:00.123+00:00",
		"2026-11-14T09:30:00.1239999999999Z":  "2026-11-14T09:30:00.123+00:00",
		"2026-11-14T09:30:00-00:00":           "2026-11-14T09:30:00+00:00",
		"2028-02-29T23:59:59+14:00":           "2028-02-29T09:59:59+00:00",
		"1900-01-01T00:00:00Z":                "1900-01-01T00:00:00+00:00",
		"9999-12-31T23:59:59.999Z":            "9999-12-31T23:59:59.999+00:00",
		"1969-12-31T23:59:59.9999Z":           "1969-12-31T23:59:59.999+00:00",
		"2026-11-14T09:30:00.000+00:00":       "2026-11-14T09:30:00+00:00",
		"2026-11-14T09:30:00.100000000+00:00": "2026-11-14T09:30:00.1+00:00",
	} {
		got, err := domain.ParseInstant(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if text := domain.FormatInstant(got); text != want {
			t.Errorf("%s is shown as %s, want %s", in, text, want)
		}
		if again, err := domain.ParseInstant(domain.FormatInstant(got)); err != nil || again != got {
			t.Errorf("%s does not survive a round trip: %v, %v", in, again, err)
		}
	}
	for _, bad := range []string{
		"", "2026-11-14", "2026-11-14T09:30:00", "2026-11-14 09:30:00Z", "14.11.2026", "1763112600", "2026-11-14T09:30Z",
		"2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-11-14T24:00:00Z", "2026-11-14T9:30:00Z", "2026-11-14T09:30:00,5Z",
		"2026-11-14T09:30:00+25:00", "2026-11-14T09:30:00+0300", "1899-12-31T23:59:59Z", "9999-12-31T23:59:59-01:00",
		"+12026-11-14T09:30:00Z", "2026-11-14T09:30:00Z ", "2026-11-14T09:30:00 03:00",
	} {
		if got, err := domain.ParseInstant(bad); err == nil {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}

func TestInstant(t *testing.T) {
	t.Parallel()
	got := domain.Instant(time.Date(2026, 11, 14, 12, 30, 0, 1_999_999, time.FixedZone("", 3*60*60)))
	if want := time.Date(2026, 11, 14, 9, 30, 0, 1_000_000, time.UTC); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}
