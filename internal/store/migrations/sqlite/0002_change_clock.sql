-- +goose Up
-- SQLite has had its table change_clock from the start.
SELECT 1;

-- +goose Down
SELECT 1;
