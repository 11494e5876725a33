package db_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// A step of the source by an hour back: the clock goes on from the latest stamp,
// at half speed, and follows the source again once that has caught up.
func TestClockSurvivesAStepBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var step time.Duration
		clock := db.NewClock(func() time.Time { return time.Now().Add(step) })
		stamp := clock.Now()
		clock.Observe(stamp)
		step = -time.Hour
		if now := clock.Now(); now.Before(stamp) {
			t.Errorf("the clock went back by %v", stamp.Sub(now))
		}
		time.Sleep(time.Minute)
		if now := clock.Now(); now != stamp.Add(30*time.Second) {
			t.Errorf("a minute after the step the clock moved by %v, want 30s", now.Sub(stamp))
		}
		clock.Observe(clock.Now())
		time.Sleep(2 * time.Hour)
		if now, source := clock.Now(), time.Now().Add(step); now != source.UTC().Truncate(time.Millisecond) {
			t.Errorf("the clock shows %v, its source %v", now, source)
		}
	})
}
