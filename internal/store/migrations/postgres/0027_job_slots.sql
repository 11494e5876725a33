-- +goose Up
-- Each open job of a company has one of a limited number of slots, so that requests
-- that come at the same instant cannot start more; null if an older program started it.
ALTER TABLE jobs ADD COLUMN slot integer CHECK (slot BETWEEN 1 AND 20);
CREATE UNIQUE INDEX jobs_slot ON jobs (company_id, slot) WHERE finished_at IS NULL;

-- +goose Down
DROP INDEX jobs_slot;
ALTER TABLE jobs DROP COLUMN slot;
