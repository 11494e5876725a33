-- +goose Up
-- On PostgreSQL a check of foreign keys is dropped here. SQLite's costs nothing worth mentioning.
SELECT 1;

-- +goose Down
SELECT 1;
