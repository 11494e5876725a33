-- +goose Up
-- Messages between replicas on PostgreSQL behind a pooler. SQLite has one server at a
-- time and leaves the table empty; it exists so that both engines have one schema.
CREATE TABLE messages (
    id         integer PRIMARY KEY,
    topic      text NOT NULL,
    keys       text NOT NULL,
    created_at integer NOT NULL
);

-- +goose Down
DROP TABLE messages;
