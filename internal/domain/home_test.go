package domain_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestWeeksBeginOnMondaysOfTheZone(t *testing.T) {
	t.Parallel()
	riga, err := time.LoadLocation("Europe/Riga")
	if err != nil {
		t.Fatal(err)
	}
	// It is Monday already in Riga, and clocks were set back on 25 October.
	now := time.Date(2026, 11, 1, 22, 30, 0, 0, time.UTC)
	weeks := domain.LastWeeks(now, riga, 3)
	domain.AddToWeeks(weeks, []domain.HourCount{
		{Start: time.Date(2026, 10, 18, 20, 0, 0, 0, time.UTC), N: 100}, // the Sunday before
		{Start: time.Date(2026, 10, 18, 21, 0, 0, 0, time.UTC), N: 1},
		{Start: time.Date(2026, 10, 25, 21, 0, 0, 0, time.UTC), N: 2},
		{Start: time.Date(2026, 10, 25, 22, 0, 0, 0, time.UTC), N: 4},
		{Start: time.Date(2026, 11, 1, 22, 0, 0, 0, time.UTC), N: 8},
	})
	var got []string
	for _, w := range weeks {
		got = append(got, w.Start.Format("2006-01-02 15:04 Mon"))
	}
	if diff := cmp.Diff([]string{"2026-10-19 00:00 Mon", "2026-10-26 00:00 Mon", "2026-11-02 00:00 Mon"}, got); diff != "" {
		t.Errorf("weeks (-want +got):\n%s", diff)
	}
	if weeks[0].N != 3 || weeks[1].N != 4 || weeks[2].N != 8 {
		t.Errorf("the weeks count %d, %d and %d, want 3, 4 and 8", weeks[0].N, weeks[1].N, weeks[2].N)
	}
}
