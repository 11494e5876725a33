-- +goose Up
-- How many live assignments the employee had at most after this one was made,
-- which is null if an older program made it.
ALTER TABLE assignments ADD COLUMN live_at_most integer;

-- +goose Down
ALTER TABLE assignments DROP COLUMN live_at_most;
