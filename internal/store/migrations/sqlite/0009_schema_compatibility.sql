-- +goose Up
-- The oldest program that may run on this schema, named by its newest migration.
-- A migration that older programs cannot live with raises it.
CREATE TABLE schema_compatibility (
  id             INTEGER PRIMARY KEY CHECK (id = 1),
  oldest_program INTEGER NOT NULL
);
INSERT INTO schema_compatibility (id, oldest_program) VALUES (1, 1);

-- +goose Down
DROP TABLE schema_compatibility;
