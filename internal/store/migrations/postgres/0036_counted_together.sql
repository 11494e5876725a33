-- +goose Up
-- On SQLite the assignments of a bulk are counted together here, as PostgreSQL has always done.
SELECT 1;

-- +goose Down
SELECT 1;
