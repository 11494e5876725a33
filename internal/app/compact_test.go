package app

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestCompactsOnceAWeek(t *testing.T) {
	t.Parallel()
	a, err := Open(t.Context(), Config{Database: "sqlite://" + filepath.Join(t.TempDir(), "test.db"), Create: true, LogLevel: "error"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	last := func() string {
		t.Helper()
		value, err := a.store.Setting(t.Context(), compactedSetting)
		if err != nil {
			t.Fatal(err)
		}
		return string(value)
	}
	if err := a.compactWeekly(t.Context()); err != nil {
		t.Fatal(err)
	}
	for days, compacts := range map[int]bool{6: false, 8: true} {
		stored := domain.FormatInstant(a.store.Now().Add(-time.Duration(days) * 24 * time.Hour))
		if err := a.setSetting(t.Context(), compactedSetting, stored); err != nil {
			t.Fatal(err)
		}
		if err := a.compactWeekly(t.Context()); err != nil {
			t.Fatal(err)
		}
		if compacted := last() != stored; compacted != compacts {
			t.Errorf("%d days after the last time: compacted %t, want %t", days, compacted, compacts)
		}
	}
}
