-- +goose Up

-- Names as searches compare them; see domain.FoldName. They are NULL in rows that an
-- older program wrote, and filled in by a newer one.
ALTER TABLE employees ADD COLUMN name_folded TEXT;
ALTER TABLE employees ADD COLUMN last_name_folded TEXT;
ALTER TABLE tokens ADD COLUMN name_folded TEXT;
CREATE INDEX employees_unfolded ON employees (company_id, id) WHERE name_folded IS NULL;
CREATE INDEX tokens_unfolded ON tokens (company_id, id) WHERE name_folded IS NULL;

-- A search reads the range of values that begin with its text.
CREATE INDEX employees_name_search ON employees (company_id, name_folded);
CREATE INDEX employees_last_name_search ON employees (company_id, last_name_folded);
CREATE INDEX employees_email_search ON employees (company_id, lower(email_folded));
CREATE INDEX employees_external_id_search ON employees (company_id, lower(external_id));
CREATE INDEX assignments_external_id_search ON assignments (company_id, lower(external_id));
CREATE INDEX tokens_name_search ON tokens (company_id, name_folded);
CREATE INDEX former_administrators_email_search ON former_administrators (lower(email_folded));

-- +goose Down
DROP INDEX former_administrators_email_search;
DROP INDEX tokens_name_search;
DROP INDEX assignments_external_id_search;
DROP INDEX employees_external_id_search;
DROP INDEX employees_email_search;
DROP INDEX employees_last_name_search;
DROP INDEX employees_name_search;
DROP INDEX tokens_unfolded;
DROP INDEX employees_unfolded;
ALTER TABLE tokens DROP COLUMN name_folded;
ALTER TABLE employees DROP COLUMN last_name_folded;
ALTER TABLE employees DROP COLUMN name_folded;
