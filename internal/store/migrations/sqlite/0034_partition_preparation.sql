-- +goose Up
-- The event of an erasure names the person and goes on the day: see docs/adr/0010-partitions.md.
CREATE INDEX events_removed ON events (occurred_at) WHERE kind = 'employee.removed';

-- +goose Down
DROP INDEX events_removed;
