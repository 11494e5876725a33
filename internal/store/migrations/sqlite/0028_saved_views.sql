-- +goose Up
-- Filters of the cabinet's lists and reports that people have named.
CREATE TABLE saved_views (
  company_id  INTEGER NOT NULL REFERENCES companies (id),
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  page        TEXT NOT NULL,
  filter      TEXT NOT NULL,
  name        TEXT NOT NULL,
  name_folded TEXT NOT NULL,
  saved_by    TEXT NOT NULL,
  saved_at    INTEGER NOT NULL,
  UNIQUE (company_id, id),
  UNIQUE (company_id, name_folded)
);

-- +goose Down
DROP TABLE saved_views;
