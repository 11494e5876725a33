package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/sqlite"
)

func stampOf(t *testing.T, e *sqlite.Engine) (stamp time.Time) {
	t.Helper()
	err := e.Write(t.Context(), func(tx db.Tx) error {
		err := tx.Send(t.Context(), nil)
		stamp = tx.Now()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return stamp
}

// The machine's clock steps back. Stamps, and what is due or overdue by Now, go on
// by one clock, in the process that runs and in one that starts afterwards.
func TestOneClockAfterAStepBack(t *testing.T) {
	t.Parallel()
	var step time.Duration
	options := db.Options{Clock: func() time.Time { return time.Now().Add(step) }}
	path := filepath.Join(t.TempDir(), "test.db")
	e := open(t, path, options)
	latest := stampOf(t, e)
	step = -time.Hour
	for name, process := range map[string]*sqlite.Engine{"the running process": e, "a new process": open(t, path, options)} {
		if now := process.Now(); now.Before(latest) || now.After(latest.Add(time.Minute)) {
			t.Errorf("the clock of %s is %v from the latest stamp", name, now.Sub(latest))
		}
		if stamp := stampOf(t, process); stamp.Before(latest) {
			t.Errorf("%s stamps %v before the latest stamp", name, latest.Sub(stamp))
		}
	}
}
