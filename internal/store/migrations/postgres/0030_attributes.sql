-- +goose Up
-- The fields that a company adds to an employee, as a JSON object of texts.
ALTER TABLE employees ADD COLUMN attributes text;

-- +goose Down
ALTER TABLE employees DROP COLUMN attributes;
