-- +goose Up
-- Messages between replicas that cannot use NOTIFY because a pooler stands between
-- them and the server. They live for a minute, so a crash may empty the table.
CREATE UNLOGGED TABLE messages (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    topic      text NOT NULL,
    keys       text NOT NULL,
    created_at timestamptz NOT NULL
);

-- +goose Down
DROP TABLE messages;
