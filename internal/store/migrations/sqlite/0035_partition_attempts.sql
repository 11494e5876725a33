-- +goose Up
-- On PostgreSQL a step of the partitioning of attempts: see docs/adr/0010-partitions.md. SQLite has no partitions.
SELECT 1;

-- +goose Down
SELECT 1;
