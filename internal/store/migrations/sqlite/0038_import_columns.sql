-- +goose Up
-- What the columns of imports hold, by their heads, as it was chosen last. Unlike the imports it is kept for good.
CREATE TABLE import_columns (
  company_id INTEGER NOT NULL REFERENCES companies (id),
  head       TEXT NOT NULL,
  field      TEXT NOT NULL,
  chosen_at  INTEGER NOT NULL,
  PRIMARY KEY (company_id, head)
);
INSERT INTO import_columns (company_id, head, field, chosen_at)
SELECT i.company_id, h.value, f.value, i.created_at
FROM imports i
JOIN json_each(i.header) h
JOIN json_each(i.fields) f ON f.key = h.key
WHERE length(CAST(h.value AS BLOB)) BETWEEN 1 AND 200
ORDER BY i.id
ON CONFLICT (company_id, head) DO UPDATE SET field = excluded.field, chosen_at = excluded.chosen_at;

-- +goose Down
DROP TABLE import_columns;
