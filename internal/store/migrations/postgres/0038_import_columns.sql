-- +goose Up
-- What the columns of imports hold, by their heads, as it was chosen last. Unlike the imports it is kept for good.
CREATE TABLE import_columns (
  company_id bigint NOT NULL REFERENCES companies (id),
  head       text NOT NULL,
  field      text NOT NULL,
  chosen_at  timestamptz NOT NULL,
  PRIMARY KEY (company_id, head)
);
INSERT INTO import_columns (company_id, head, field, chosen_at)
SELECT DISTINCT ON (i.company_id, h.head) i.company_id, h.head, f.field, i.created_at
FROM imports i
CROSS JOIN LATERAL jsonb_array_elements_text(i.header::jsonb) WITH ORDINALITY h (head, n)
JOIN LATERAL jsonb_array_elements_text(i.fields::jsonb) WITH ORDINALITY f (field, n) ON f.n = h.n
WHERE octet_length(h.head) BETWEEN 1 AND 200
ORDER BY i.company_id, h.head, i.id DESC;

-- +goose Down
DROP TABLE import_columns;
