-- +goose NO TRANSACTION
-- +goose Up

-- The event of an erasure names the person and goes on the day. What was interrupted begins again.
DROP INDEX CONCURRENTLY IF EXISTS events_removed;
CREATE INDEX CONCURRENTLY events_removed ON events (occurred_at) WHERE kind = 'employee.removed';

-- The table of attempts becomes a partition of a new one in 0035: see docs/adr/0010-partitions.md. It is attached without
-- being read if a constraint proves that its rows belong there. The bound lies seven days ahead. The id of a delivery begins
-- with the milliseconds since 1970, on the clock of a server. A small table may be read.
-- +goose StatementBegin
DO $$
DECLARE
  newest bigint;
BEGIN
  PERFORM set_config('lock_timeout', '500ms', true);
  IF pg_relation_size('delivery_attempts') > 8388608 THEN
    SELECT ('x' || lpad(substr(replace(max(delivery_id::text COLLATE "C"), '-', ''), 1, 12), 16, '0'))::bit(64)::bigint INTO newest FROM delivery_attempts;
    ALTER TABLE delivery_attempts DROP CONSTRAINT IF EXISTS delivery_attempts_bound;
    EXECUTE format('ALTER TABLE delivery_attempts ADD CONSTRAINT delivery_attempts_bound CHECK (delivery_id < %L::uuid) NOT VALID',
      lpad(to_hex(greatest(newest, floor(extract(epoch FROM now()) * 1000)::bigint) + 7 * 86400000), 12, '0') || repeat('0', 20));
  END IF;
END
$$;
-- +goose StatementEnd

-- The proof reads the table and keeps nobody waiting.
-- +goose StatementBegin
DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_constraint WHERE conrelid = 'delivery_attempts'::regclass AND conname = 'delivery_attempts_bound') THEN
    ALTER TABLE delivery_attempts VALIDATE CONSTRAINT delivery_attempts_bound;
  END IF;
END
$$;
-- +goose StatementEnd

-- +goose Down
ALTER TABLE delivery_attempts DROP CONSTRAINT IF EXISTS delivery_attempts_bound;
DROP INDEX events_removed;
