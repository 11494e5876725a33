package report

import (
	"math"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestClockAgreesWithTime(t *testing.T) {
	t.Parallel()
	zones := []string{"UTC", "Europe/Kyiv", "America/New_York", "America/St_Johns", "Asia/Kathmandu", "Australia/Lord_Howe",
		"Pacific/Apia", "Africa/Casablanca"}
	rapid.Check(t, func(rt *rapid.T) {
		loc := location(t, rapid.SampledFrom(zones).Draw(rt, "zone"))
		c := newClock(loc) // one clock for all instants, so that its memory is tried too
		// From 1972 on, when the last offset with seconds was given up, to the end of four-digit years.
		seconds := rapid.SliceOfN(rapid.Int64Range(63_072_000, 253_402_200_000), 1, 20).Draw(rt, "seconds")
		nsec := rapid.Int32Range(0, 999_999_999).Draw(rt, "nsec")
		for _, unix := range seconds {
			at := time.Unix(unix, int64(nsec)).In(loc)
			want := at.Format("2006-01-02T15:04:05.999-07:00")
			if got := string(c.appendRFC3339(nil, unix, nsec)); got != want {
				rt.Fatalf("appendRFC3339 = %s, want %s", got, want)
			}
			checkSerial(rt, &c, at)
		}
	})
}

func checkSerial(t *rapid.T, c *clock, at time.Time) {
	y, m, d := at.Date()
	day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Sub(time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)) // whole days
	if day < 0 || y > 2200 {
		return // beyond what a Duration can tell
	}
	hour, minute, second := at.Clock()
	want := float64(day/(24*time.Hour)) + 25569 + float64((hour*60+minute)*60+second)/86_400
	b := c.serial(at.Unix()).appendTo(nil)
	got, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.Abs(got-want) > 1e-10 {
		t.Fatalf("serial(%s) = %s, want %f", at, b, want)
	}
}

func TestClockAtTheEdges(t *testing.T) {
	t.Parallel()
	kyiv, paris := location(t, "Europe/Kyiv"), location(t, "Europe/Paris")
	tests := []struct {
		name   string
		loc    *time.Location
		at     time.Time
		text   string
		serial string
	}{
		{"before summer time", kyiv, time.Date(2026, 3, 29, 0, 59, 59, 0, time.UTC), "2026-03-29T02:59:59+02:00",
			"46110.1249884259"},
		{"summer time", kyiv, time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC), "2026-03-29T04:00:00+03:00",
			"46110.1666666667"},
		{"first half past three", kyiv, time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC), "2026-10-25T03:30:00+03:00",
			"46320.1458333333"},
		{"second half past three", kyiv, time.Date(2026, 10, 25, 1, 30, 0, 0, time.UTC), "2026-10-25T03:30:00+02:00",
			"46320.1458333333"},
		{"midnight", time.UTC, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), "2026-01-01T00:00:00+00:00", "46023"},
		{"one millisecond", time.UTC, time.Date(2026, 1, 1, 0, 0, 0, 1e6, time.UTC), "2026-01-01T00:00:00.001+00:00",
			"46023"},
		{"last millisecond", time.UTC, time.Date(2026, 1, 1, 23, 59, 59, 999e6, time.UTC),
			"2026-01-01T23:59:59.999+00:00", "46023.9999884259"},
		{"offset with seconds", paris, time.Date(1905, 1, 1, 12, 0, 0, 0, time.UTC), "1905-01-01T12:09:00+00:09",
			"1828.5064930556"},
		{"first date of spreadsheets", time.UTC, time.Date(1900, 3, 1, 0, 0, 0, 0, time.UTC), "1900-03-01T00:00:00+00:00", "61"},
		{"before it", time.UTC, time.Date(1900, 2, 28, 23, 59, 59, 0, time.UTC), "1900-02-28T23:59:59+00:00",
			"60.9999884259"},
		{"last date of spreadsheets", time.UTC, time.Date(9999, 12, 31, 12, 0, 0, 0, time.UTC), "9999-12-31T12:00:00+00:00",
			"2958465.5"},
		{"past it", time.UTC, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "10000-01-01T00:00:00+00:00",
			"2958466"},
		{"past it elsewhere", location(t, "Asia/Kathmandu"), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), "9999-12-31T23:59:59+00:00",
			"2958466.2395717593"},
		{"before the first year elsewhere", time.FixedZone("", -3600), time.Time{}, "0001-01-01T00:00:00+00:00", "-693594.9583333333"},
		{"zero time", time.UTC, time.Time{}, "0001-01-01T00:00:00+00:00", "-693593"},
		{"west", time.FixedZone("", -(3*3600 + 30*60)), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
			"2025-12-31T20:30:00-03:30", "46022.8541666667"},
	}
	for _, test := range tests {
		c := newClock(test.loc)
		cell := Time(test.at)
		if got := string(c.appendRFC3339(nil, cell.n, cell.nsec)); got != test.text {
			t.Errorf("%s: text %s, want %s", test.name, got, test.text)
		}
		if got := c.serial(cell.n).appendTo(nil); string(got) != test.serial {
			t.Errorf("%s: serial %s, want %s", test.name, got, test.serial)
		}
	}
}
