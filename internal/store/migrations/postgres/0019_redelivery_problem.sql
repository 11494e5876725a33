-- +goose Up
-- A redelivery whose steps keep failing ends, and says why.
ALTER TABLE redeliveries ADD COLUMN failures integer NOT NULL DEFAULT 0;
ALTER TABLE redeliveries ADD COLUMN problem text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE redeliveries DROP COLUMN problem;
ALTER TABLE redeliveries DROP COLUMN failures;
