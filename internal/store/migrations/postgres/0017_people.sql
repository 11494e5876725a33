-- +goose Up
-- Who assigned it and on which way, see domain.Actor; null if an older program did.
ALTER TABLE assignments ADD COLUMN assigned_by text;
ALTER TABLE assignments ADD COLUMN assigned_via text;

-- Employees who will be offboarded, and who decided it.
CREATE TABLE planned_offboardings (
  company_id  bigint NOT NULL,
  employee_id bigint NOT NULL,
  at          timestamptz NOT NULL,
  actor_kind  text NOT NULL,
  actor_id    bigint NOT NULL,
  actor_label text NOT NULL,
  PRIMARY KEY (company_id, employee_id),
  FOREIGN KEY (company_id, employee_id) REFERENCES employees (company_id, id) ON DELETE CASCADE
);
CREATE INDEX planned_offboardings_at ON planned_offboardings (at);

-- Entries about people are their history and stay as long as they do. All others
-- expire, also those about people who were erased.
UPDATE audit_entries SET employee_id = -1 WHERE employee_id > 0 AND NOT EXISTS
  (SELECT 1 FROM employees e WHERE e.company_id = audit_entries.company_id AND e.id = audit_entries.employee_id);
CREATE INDEX audit_entries_expiring ON audit_entries (company_id, at, id) WHERE employee_id <= 0;

-- +goose Down
DROP INDEX audit_entries_expiring;
DROP TABLE planned_offboardings;
ALTER TABLE assignments DROP COLUMN assigned_via;
ALTER TABLE assignments DROP COLUMN assigned_by;
