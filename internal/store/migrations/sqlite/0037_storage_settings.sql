-- +goose Up
-- On PostgreSQL the settings of storage and autovacuum of tables that change much: see docs/operations/postgresql.md. SQLite has none.
SELECT 1;

-- +goose Down
SELECT 1;
