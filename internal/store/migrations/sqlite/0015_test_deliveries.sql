-- +goose Up
-- A test event is a delivery in the log that is never sent again.
ALTER TABLE deliveries ADD COLUMN is_test INTEGER NOT NULL DEFAULT 0;
CREATE INDEX deliveries_test ON deliveries (company_id, created_at) WHERE is_test;

-- +goose Down
DROP INDEX deliveries_test;
ALTER TABLE deliveries DROP COLUMN is_test;
