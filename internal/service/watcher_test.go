package service_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

// TestCoursesChangedElsewhereAreSeen changes courses in every way in another process:
// the list of this one shows it within a second.
func TestCoursesChangedElsewhereAreSeen(t *testing.T) {
	t.Parallel()
	onTwoReplicas(t, func(f, elsewhere fixture) {
		ctx := f.t.Context()
		acme, _ := f.company("anna@x.test")
		caller := f.caller(acme)
		background(f.t, f.watcher.Run)
		here := service.NewLearning(f.store, f.watcher)
		there := service.NewLearning(elsewhere.store, elsewhere.watcher)
		names := func() (names []string) {
			list, err := here.Courses(ctx, caller)
			must(f.t, "list", err)
			for _, c := range list {
				names = append(names, c.Name)
			}
			return names
		}
		shows := func(what string, want ...string) {
			f.t.Helper()
			within(f.t, time.Second, what, func() bool { return slices.Equal(names(), want) })
		}
		shows("an empty list")
		_, err := there.AddCourse(ctx, caller, domain.Course{Name: "Own"})
		must(f.t, "add", err)
		shows("an added course", "Own")
		_, _, err = there.PutCourse(ctx, operator, domain.Course{ExternalID: "P1", Name: "Platform"})
		must(f.t, "put", err)
		_, err = there.GrantCourse(ctx, operator, "P1", acme.ID)
		must(f.t, "grant", err)
		shows("a granted course", "Own", "Platform")
		_, _, err = there.PutCourse(ctx, operator, domain.Course{ExternalID: "P1", Name: "Renamed"})
		must(f.t, "rename", err)
		shows("a renamed course", "Own", "Renamed")
		_, err = there.WithdrawCourse(ctx, operator, "P1", acme.ID)
		must(f.t, "withdraw", err)
		shows("a withdrawn course", "Own")
	})
}

// countedVersions counts the reads of the versions.
type countedVersions struct{ reads atomic.Int32 }

func (c *countedVersions) CacheVersions(context.Context) (domain.CacheVersions, error) {
	c.reads.Add(1)
	return domain.CacheVersions{}, nil
}

func (c *countedVersions) OnCacheChange(func(domain.CacheKind)) {}

// Polling stops one idle time after the last use, also if that use was a lookup while
// it went on. It starts again with the next lookup.
func TestPollingStopsWhenIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		versions := &countedVersions{}
		w := service.NewWatcher(versions, service.WatcherOptions{Poll: time.Second, Idle: time.Minute})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go w.Run(ctx)
		use := func() {
			w.Version(domain.CacheTokens)
			w.ConfirmRead(domain.CacheTokens, 1, w.Now())
		}
		for range 2 {
			use()
			time.Sleep(10 * time.Second)
			use()
			time.Sleep(time.Hour)
			if got := versions.reads.Swap(0); got < 65 || got > 75 {
				t.Errorf("the versions were read %d times, want once a second until a minute after the last use", got)
			}
		}
	})
}

// TestOwnChangesAreSeenAtOnce changes cached records in the process that caches them.
func TestOwnChangesAreSeenAtOnce(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, _ := f.company("anna@x.test")
		_, secret := f.token(acme)
		background(f.t, f.watcher.Run)
		learning := service.NewLearning(f.store, f.watcher)
		for i := range 20 {
			_, err := learning.AddCourse(ctx, f.caller(acme), domain.Course{Name: "Course"})
			must(f.t, "add", err)
			if list, err := learning.Courses(ctx, f.caller(acme)); err != nil || len(list) != i+1 {
				f.t.Fatalf("%d courses after %d were added, %v", len(list), i+1, err)
			}
			_, err = f.companies.Suspend(ctx, operator, acme.ID)
			must(f.t, "suspend", err)
			if _, err := f.tokens.Authenticate(ctx, secret, nowhere); !errors.Is(err, domain.ErrCompanySuspended) {
				f.t.Fatalf("right after the suspension: %v", err)
			}
			_, err = f.companies.Resume(ctx, operator, acme.ID)
			must(f.t, "resume", err)
			_, err = f.tokens.Authenticate(ctx, secret, nowhere)
			must(f.t, "authenticate right after the resumption", err)
		}
	})
}
