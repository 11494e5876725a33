package domain

import "time"

// HomeFigures is what the first page of the cabinet shows about a company's learning.
type HomeFigures struct {
	// Counting is true while the figures of an older database are being counted.
	Counting bool
	Courses  AssignmentTotals // live assignments, by course
	DueSoon  int64            // open assignments that are due within DueSoon
	Today    DayFigures
	// Earlier is what the figures were on the first known day of the last 30 days, and
	// EarlierAt is when that day began; nil if there is none before today.
	Earlier   DayFigures
	EarlierAt *time.Time
	// Completions counts completed assignments by the hour of their completion, since
	// the instant that was asked for, in ascending order.
	Completions []HourCount
}

// DayFigures are the figures that are kept once a day, to be compared with later ones.
type DayFigures struct {
	Employees         int64
	Overdue           int64
	Required          int64 // live assignments that are required
	RequiredCompleted int64
}

// HourCount is how many things happened in the hour that begins at Start.
type HourCount struct {
	Start time.Time
	N     int64
}

// WeekCount is how many things happened in the week that begins at Start, a Monday.
type WeekCount struct {
	Start time.Time
	N     int64
}

// FigureDays is the period that the first page compares with the one before it.
const FigureDays = 30

// RecentSince returns the first whole hour of the last FigureDays days: completions
// are counted by the hour.
func RecentSince(now time.Time) time.Time {
	return now.AddDate(0, 0, -FigureDays).Add(time.Hour - 1).Truncate(time.Hour)
}

// ChartWeeks is how many weeks the chart of completions covers.
const ChartWeeks = 12

// LastWeeks returns the starts of the last n weeks in a zone, the current one last.
func LastWeeks(now time.Time, zone *time.Location, n int) []WeekCount {
	local := now.In(zone)
	monday := local.Day() - (int(local.Weekday())+6)%7
	out := make([]WeekCount, n)
	for i := range out {
		out[i].Start = time.Date(local.Year(), local.Month(), monday-7*(n-1-i), 0, 0, 0, 0, zone)
	}
	return out
}

// AddToWeeks counts each hour in the week that it begins in. Hours before the first
// week are left out.
func AddToWeeks(weeks []WeekCount, hours []HourCount) {
	week := 0
	for _, h := range hours {
		if h.Start.Before(weeks[0].Start) {
			continue
		}
		for week+1 < len(weeks) && !h.Start.Before(weeks[week+1].Start) {
			week++
		}
		weeks[week].N += h.N
	}
}

// CompletedBetween counts the hours that begin in a period.
func (f HomeFigures) CompletedBetween(from, to time.Time) (n int64) {
	for _, h := range f.Completions {
		if !h.Start.Before(from) && h.Start.Before(to) {
			n += h.N
		}
	}
	return n
}
