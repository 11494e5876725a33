-- +goose Up
-- Tables of employees that people uploaded, for 30 days. The cells of a row are
-- emptied once it was carried out.
CREATE TABLE imports (
  company_id INTEGER NOT NULL REFERENCES companies (id),
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  file_name  TEXT NOT NULL,
  header     TEXT NOT NULL,
  fields     TEXT NOT NULL,
  total      INTEGER NOT NULL,
  job_id     INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (company_id, id)
);
CREATE INDEX imports_created ON imports (created_at);
CREATE TABLE import_rows (
  company_id INTEGER NOT NULL,
  import_id  INTEGER NOT NULL,
  number     INTEGER NOT NULL,
  cells      TEXT NOT NULL,
  outcome    TEXT NOT NULL,
  problem    TEXT NOT NULL,
  PRIMARY KEY (company_id, import_id, number),
  FOREIGN KEY (company_id, import_id) REFERENCES imports (company_id, id) ON DELETE CASCADE
);

-- +goose Down
DROP TABLE import_rows;
DROP TABLE imports;
