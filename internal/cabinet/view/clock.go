package view

import (
	"strconv"
	"time"
)

const (
	dayLayout    = "2 Jan 2006"
	minuteLayout = "2 Jan 2006, 15:04"
	secondLayout = "2 Jan 2006, 15:04:05"
	inputLayout  = "2006-01-02T15:04"
)

func (c Clock) zone() *time.Location {
	if c.Zone == nil {
		return time.UTC
	}
	return c.Zone
}

// Exact writes a time as the company reads it: 14 Nov 2026, 12:30.
func (c Clock) Exact(t time.Time) string { return t.In(c.zone()).Format(minuteLayout) }

// Day writes the day of a time as the company reads it.
func (c Clock) Day(t time.Time) string { return t.In(c.zone()).Format(dayLayout) }

// ExactWithUTC writes a time in the company's zone and in UTC.
func (c Clock) ExactWithUTC(t time.Time) string {
	utc := t.UTC().Format(secondLayout) + " UTC"
	if zone := c.zone(); zone.String() != "UTC" {
		return t.In(zone).Format(secondLayout) + " " + zone.String() + "\n" + utc
	}
	return utc
}

// Input writes a time for a datetime-local input; empty for none.
func (c Clock) Input(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.In(c.zone()).Format(inputLayout)
}

// InputSeconds is Input with seconds.
func (c Clock) InputSeconds(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.In(c.zone()).Format(inputLayout + ":05")
}

// Relative describes how far a time lies from now. After a week it is a date: "40
// days ago" makes people count. The script that keeps an open page current
// follows the same steps.
func (c Clock) Relative(t time.Time) string {
	distance := c.Now.Sub(t)
	ahead := distance < 0
	distance = distance.Abs()
	var words string
	switch {
	case distance < 45*time.Second:
		if ahead {
			return "in a moment"
		}
		return "just now"
	case distance < time.Hour:
		words = strconv.Itoa(max(1, int(distance.Round(time.Minute)/time.Minute))) + " min"
	case distance < 24*time.Hour:
		words = strconv.Itoa(int(distance/time.Hour)) + " h"
	case distance < 7*24*time.Hour:
		words = plural(int64(distance/(24*time.Hour)), "day", "days")
	default:
		return c.Day(t)
	}
	if ahead {
		return "in " + words
	}
	return words + " ago"
}

// machine is the form of a time that programs read.
func machine(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// short returns the day and the month in the company's zone.
func (c Clock) short(t time.Time) string { return t.In(c.zone()).Format("2 Jan") }
