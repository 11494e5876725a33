package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestScheduleNext(t *testing.T) {
	t.Parallel()
	type row struct {
		failed     int
		retryAfter time.Duration
		wait       time.Duration
		more       bool
	}
	for _, tc := range []row{
		{1, 0, time.Minute, true},
		{2, 0, 5 * time.Minute, true},
		{3, 0, 15 * time.Minute, true},
		{4, 0, time.Hour, true},
		{5, 0, 6 * time.Hour, true},
		{6, 0, 0, false},
		{7, 0, 0, false},
		{0, 0, time.Minute, true},
		{1, 30 * time.Second, time.Minute, true},
		{1, 2 * time.Minute, 2 * time.Minute, true},
		{1, 6 * time.Hour, 6 * time.Hour, true},
		{1, 48 * time.Hour, 6 * time.Hour, true},
		{1, -time.Hour, time.Minute, true},
		{5, 48 * time.Hour, 6 * time.Hour, true},
		{6, time.Hour, 0, false},
	} {
		got := tc
		got.wait, got.more = DefaultSchedule().Next(tc.failed, tc.retryAfter)
		if got != tc {
			t.Errorf("got %+v, want %+v", got, tc)
		}
	}
}

func TestScheduleOtherThanDefault(t *testing.T) {
	t.Parallel()
	long := Schedule{12 * time.Hour}
	if wait, more := long.Next(1, 9*time.Hour); wait != 12*time.Hour || !more {
		t.Errorf("Next = %v, %t: Retry-After must not shorten a wait", wait, more)
	}
	if wait, more := (Schedule{}).Next(1, time.Hour); wait != 0 || more {
		t.Errorf("empty schedule: Next = %v, %t, want no more attempts", wait, more)
	}
	if got := len(DefaultSchedule()) + 1; got != 6 {
		t.Errorf("%d attempts, want the contract's 6", got)
	}
}

func TestParseSchedule(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Schedule{
		"1m,5m,15m,1h,6h":  DefaultSchedule(),
		" 10ms , 0s,1h30m": {10 * time.Millisecond, 0, 90 * time.Minute},
		"2s":               {2 * time.Second},
	} {
		got, err := ParseSchedule(text)
		if err != nil {
			t.Errorf("ParseSchedule(%q): %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ParseSchedule(%q) (-want +got):\n%s", text, diff)
		}
		again, err := ParseSchedule(got.String())
		if diff := cmp.Diff(want, again); err != nil || diff != "" {
			t.Errorf("%q read back: %v (-want +got):\n%s", got.String(), err, diff)
		}
	}
	for _, text := range []string{"", " ", "1m,,5m", "1m,", "5", "-1m", "soon"} {
		if got, err := ParseSchedule(text); err == nil {
			t.Errorf("ParseSchedule(%q) = %v, want an error", text, got)
		}
	}
}

func TestParseRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 14, 9, 30, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                                 0,
		"0":                                0,
		"120":                              2 * time.Minute,
		" 120 ":                            2 * time.Minute,
		"-5":                               0,
		"1.5":                              0,
		"soon":                             0,
		"21600":                            6 * time.Hour,
		"21601":                            6 * time.Hour,
		"99999999999999999999999999":       6 * time.Hour,
		"9223372036854775807":              6 * time.Hour,
		"Sat, 14 Nov 2026 09:35:00 GMT":    5 * time.Minute,
		"Saturday, 14-Nov-26 09:35:00 GMT": 5 * time.Minute,
		"Sat Nov 14 09:35:00 2026":         5 * time.Minute,
		"Sat, 14 Nov 2026 09:00:00 GMT":    0,
		"Sun, 15 Nov 2026 09:30:00 GMT":    6 * time.Hour,
		"2026-11-14T09:35:00Z":             0,
	} {
		if got := ParseRetryAfter(value, now); got != want {
			t.Errorf("ParseRetryAfter(%q) = %v, want %v", value, got, want)
		}
	}
}
