-- +goose Up
-- What became of the course that a row of an import names: assigned, already or
-- empty.
ALTER TABLE import_rows ADD COLUMN assigned text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE import_rows DROP COLUMN assigned;
