package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// sortedThrottles returns the throttles in the order in which all attempts lock them.
func sortedThrottles(in []domain.Throttle) []domain.Throttle {
	return slices.SortedFunc(slices.Values(in), func(a, b domain.Throttle) int { return strings.Compare(a.Key, b.Key) })
}

// CountAttempt counts an attempt under every throttle before it is made. While one
// of them is blocked, it refuses the attempt and counts nothing. Because attempts
// are counted first, simultaneous ones can't exceed the limit together. Codes:
// rate_limited.
func (s *Store) CountAttempt(ctx context.Context, throttles []domain.Throttle) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		if err := tx.Send(ctx, &db.Batch{}); err != nil {
			return err
		}
		now := tx.Now()
		failures := map[string]int{}
		var until time.Time
		lock, count := &db.Batch{}, &db.Batch{}
		for _, t := range sortedThrottles(throttles) {
			lock.Exec(`INSERT INTO sign_in_throttles (key, failures, blocked_until, updated_at) VALUES ($1, 0, $2, $2)
				ON CONFLICT (key) DO NOTHING`, t.Key, now)
			lock.Query(func(r db.Rows) error {
				var n int
				var blocked, updated time.Time
				if err := r.Scan(&n, &blocked, &updated); err != nil {
					return err
				}
				if blocked.After(until) {
					until = blocked
				}
				if now.Sub(updated) < domain.ThrottleMemory {
					failures[t.Key] = n
				}
				return nil
			}, `SELECT t.failures, t.blocked_until, t.updated_at FROM sign_in_throttles t WHERE t.key = $1`+s.db.ForUpdate("t"), t.Key)
		}
		if err := tx.Send(ctx, lock); err != nil {
			return err
		}
		if until.After(now) {
			return domain.ErrThrottled(until, now)
		}
		for _, t := range throttles {
			n := failures[t.Key] + 1
			count.Exec(`UPDATE sign_in_throttles SET failures = $2, blocked_until = $3, updated_at = $4 WHERE key = $1`,
				t.Key, n, now.Add(t.Wait(n)), now)
		}
		tx.SendAndCommit(count)
		return nil
	})
}

// forgiveAttempts queues that a counted attempt has succeeded.
func forgiveAttempts(b *db.Batch, throttles []domain.Throttle, now time.Time) {
	for _, t := range sortedThrottles(throttles) {
		if t.Resets {
			b.Exec(`DELETE FROM sign_in_throttles WHERE key = $1`, t.Key)
			continue
		}
		takeBack(b, t, now)
	}
}

// takeBack queues that an attempt does not count after all.
func takeBack(b *db.Batch, t domain.Throttle, now time.Time) {
	b.Exec(`UPDATE sign_in_throttles SET failures = failures - 1, blocked_until = $2 WHERE key = $1 AND failures > 0`, t.Key, now)
}

// UncountAttempt takes back an attempt that was counted but not made.
func (s *Store) UncountAttempt(ctx context.Context, throttles []domain.Throttle) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		if err := tx.Send(ctx, &db.Batch{}); err != nil {
			return err
		}
		b := &db.Batch{}
		for _, t := range sortedThrottles(throttles) {
			takeBack(b, t, tx.Now())
		}
		tx.SendAndCommit(b)
		return nil
	})
}

// KnowsAddress reports whether someone has signed in from the address lately.
func (s *Store) KnowsAddress(ctx context.Context, key string) (bool, error) {
	known := false
	b := &db.Batch{}
	b.Query(func(db.Rows) error { known = true; return nil },
		`SELECT 1 FROM sign_in_throttles WHERE key = $1 AND blocked_until > $2`, key, s.Now())
	err := s.read(ctx, b)
	return known, err
}

// rememberAddress queues that someone has signed in from an address. It is a row of
// the throttles with a key of its own, which blocks nobody and expires with them.
func rememberAddress(b *db.Batch, key string, now time.Time) {
	if key == "" {
		return
	}
	b.Exec(`INSERT INTO sign_in_throttles (key, failures, blocked_until, updated_at) VALUES ($1, 0, $2, $3)
		ON CONFLICT (key) DO UPDATE SET blocked_until = excluded.blocked_until, updated_at = excluded.updated_at`,
		key, now.Add(domain.KnownAddressMemory), now)
}
