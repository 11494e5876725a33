-- +goose Up
-- The table becomes the first partition of a new one, whatever it holds, by the ids of deliveries, which begin with the time: see
-- docs/adr/0010-partitions.md.
-- +goose StatementBegin
DO $$
DECLARE
  bound uuid;
  newest bigint;
BEGIN
  LOCK TABLE delivery_attempts IN ACCESS EXCLUSIVE MODE;
  SELECT substring(pg_get_constraintdef(c.oid) FROM '''([-0-9a-f]+)''')::uuid INTO bound FROM pg_constraint c
    WHERE c.conrelid = 'delivery_attempts'::regclass AND c.conname = 'delivery_attempts_bound';
  IF bound IS NULL THEN
    SELECT ('x' || lpad(substr(replace(max(delivery_id::text COLLATE "C"), '-', ''), 1, 12), 16, '0'))::bit(64)::bigint INTO newest FROM delivery_attempts;
    bound := (lpad(to_hex(greatest(newest, floor(extract(epoch FROM now()) * 1000)::bigint) + 86400000), 12, '0') || repeat('0', 20))::uuid;
  END IF;
  ALTER TABLE delivery_attempts RENAME TO delivery_attempts_first;
  ALTER INDEX delivery_attempts_pkey RENAME TO delivery_attempts_first_pkey;
  CREATE TABLE delivery_attempts (LIKE delivery_attempts_first INCLUDING DEFAULTS,
    CONSTRAINT delivery_attempts_pkey PRIMARY KEY (company_id, delivery_id, number)) PARTITION BY RANGE (delivery_id);
  EXECUTE format('ALTER TABLE delivery_attempts ATTACH PARTITION delivery_attempts_first FOR VALUES FROM (MINVALUE) TO (%L)', bound);
  CREATE TABLE delivery_attempts_rest PARTITION OF delivery_attempts DEFAULT;
  ALTER TABLE delivery_attempts_first DROP CONSTRAINT IF EXISTS delivery_attempts_bound;
END
$$;
-- +goose StatementEnd

-- +goose Down
CREATE TABLE delivery_attempts_plain (LIKE delivery_attempts INCLUDING DEFAULTS);
INSERT INTO delivery_attempts_plain SELECT * FROM delivery_attempts;
DROP TABLE delivery_attempts;
ALTER TABLE delivery_attempts_plain RENAME TO delivery_attempts;
ALTER TABLE delivery_attempts ADD CONSTRAINT delivery_attempts_pkey PRIMARY KEY (company_id, delivery_id, number);
