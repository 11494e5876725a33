package storetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func TestSettingsAndLeases(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		t.Run("settings", func(t *testing.T) { testSettings(t, s) })
		t.Run("leases", func(t *testing.T) { testLeases(t, s) })
	})
}

func testSettings(t *testing.T, s *store.Store) {
	ctx := t.Context()
	none, err := s.Setting(ctx, "key")
	if err != nil || none != nil {
		t.Errorf("a setting that nobody made is %q, %v", none, err)
	}
	var got resultCounts
	race(4, func(i int) {
		kept, err := s.InitSetting(ctx, "key", fmt.Appendf(nil, "value %d", i))
		got.add(string(kept), err)
	})
	first, err := s.Setting(ctx, "key")
	wantNoError(t, "read", err)
	equal(t, "what four that make it at once are told", got.counts, map[string]int{string(first): 4})

	for _, row := range []struct {
		key, old, value string
		swapped         bool
	}{{"key", "wrong", "second", false}, {"other", string(first), "second", false}, {"key", string(first), "second", true}, {"key", string(first), "third", false}} {
		swapped, err := s.CompareAndSwapSetting(ctx, row.key, []byte(row.old), []byte(row.value))
		wantNoError(t, "swap", err)
		equal(t, fmt.Sprintf("swap %s of %s", row.value, row.key), swapped, row.swapped)
	}
	kept, err := s.InitSetting(ctx, "key", []byte("late"))
	wantNoError(t, "make it again", err)
	equal(t, "the setting", string(kept), "second")
	equal(t, "settings", texts(t, s, `SELECT key FROM settings`), []string{"key"})
}

func testLeases(t *testing.T, s *store.Store) {
	take := func(name, owner string, hold time.Duration, want bool) {
		t.Helper()
		mine, err := s.TakeLease(t.Context(), name, owner, hold)
		wantNoError(t, "take", err)
		equal(t, owner+" takes "+name, mine, want)
	}
	var got resultCounts
	race(4, func(i int) {
		mine, err := s.TakeLease(t.Context(), "raced", fmt.Sprint("owner ", i), time.Hour)
		got.add(fmt.Sprint(mine), err)
	})
	equal(t, "four that take a lease at once", got.counts, map[string]int{"true": 1, "false": 3})
	take("sweep", "a", time.Hour, true)
	take("sweep", "a", time.Hour, true)
	take("sweep", "b", time.Hour, false)
	take("retention", "b", time.Hour, true)
	wantNoError(t, "drop the lease of another", s.DropLease(t.Context(), "sweep", "b"))
	take("sweep", "b", time.Hour, false)
	wantNoError(t, "drop", s.DropLease(t.Context(), "sweep", "a"))
	take("sweep", "b", -time.Millisecond, true)
	take("sweep", "a", time.Hour, true) // that of b has run out
	take("sweep", "b", time.Hour, false)
	take("retention", "a", time.Hour, false)
}
