package store

import (
	"context"
	"time"
)

// partitionsInRetention is into how many partitions the retention is split.
const partitionsInRetention = 12

// AddPartitionsAhead adds the partitions that new attempts will need, where the database
// has partitions. It is called every minute, by one replica at a time.
func (s *Store) AddPartitionsAhead(ctx context.Context, retention time.Duration) error {
	return mapUnavailable(s.db.AddPartitionsAhead(ctx, retention/partitionsInRetention))
}

// DropPartitions drops the partitions whose deliveries were all made before the instant
// and of which none is to be sent. A partition that is in use is left for the next call.
// ExpireEvents, which is called later, removes the remaining attempts and the deliveries.
func (s *Store) DropPartitions(ctx context.Context, before time.Time) error {
	return mapUnavailable(s.db.DropPartitions(ctx, before))
}

// RowRetention returns the age at which ExpireEvents removes events, so that most attempts
// are dropped with their partition first.
func (s *Store) RowRetention(retention time.Duration) time.Duration {
	return s.db.RowRetention(retention)
}
