-- +goose Up
-- An endpoint in strict order is sent one delivery at a time.
ALTER TABLE endpoints ADD COLUMN strict_order integer NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE endpoints DROP COLUMN strict_order;
