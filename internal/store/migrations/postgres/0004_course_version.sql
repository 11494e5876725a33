-- +goose Up
INSERT INTO cache_versions (name, version) VALUES ('courses', 1);

-- +goose Down
DELETE FROM cache_versions WHERE name = 'courses';
