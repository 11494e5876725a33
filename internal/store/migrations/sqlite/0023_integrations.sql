-- +goose Up
-- A regenerated token keeps its previous secret working for a while.
ALTER TABLE tokens ADD COLUMN previous_hash BLOB;
ALTER TABLE tokens ADD COLUMN previous_last_four TEXT NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN previous_until INTEGER;
CREATE INDEX tokens_previous_hash ON tokens (previous_hash) WHERE previous_hash IS NOT NULL;

-- A webhook's own headers, encrypted as its secret is, and how many requests it
-- takes in a minute; 0 is any number.
ALTER TABLE endpoints ADD COLUMN headers BLOB;
ALTER TABLE endpoints ADD COLUMN rate_per_minute INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE endpoints DROP COLUMN rate_per_minute;
ALTER TABLE endpoints DROP COLUMN headers;
DROP INDEX tokens_previous_hash;
ALTER TABLE tokens DROP COLUMN previous_until;
ALTER TABLE tokens DROP COLUMN previous_last_four;
ALTER TABLE tokens DROP COLUMN previous_hash;
