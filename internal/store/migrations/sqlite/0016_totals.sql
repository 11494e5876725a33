-- +goose Up

-- How many records each filter of a list has: see docs/adr/0008-kept-totals.md. The
-- kind says what is counted, the two keys are a course and a status, an instant in
-- seconds, or a tag.
CREATE TABLE totals (
  company_id INTEGER NOT NULL REFERENCES companies (id),
  kind       TEXT NOT NULL,
  number_key INTEGER NOT NULL,
  text_key   TEXT NOT NULL,
  n          INTEGER NOT NULL,
  PRIMARY KEY (company_id, kind, number_key, text_key)
);

-- Changes that are not added to the totals yet.
CREATE TABLE total_changes (
  company_id INTEGER NOT NULL,
  id         INTEGER PRIMARY KEY,
  kind       TEXT NOT NULL,
  number_key INTEGER NOT NULL,
  text_key   TEXT NOT NULL,
  n          INTEGER NOT NULL,
  UNIQUE (company_id, id)
);

-- The companies whose totals are complete, which is kept_at, or being counted.
CREATE TABLE total_companies (
  company_id INTEGER NOT NULL UNIQUE REFERENCES companies (id),
  kept_at    INTEGER
);

-- +goose StatementBegin
CREATE TRIGGER assignments_counted_insert AFTER INSERT ON assignments WHEN NEW.revoked_at IS NULL
BEGIN
  INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
  VALUES (NEW.company_id, 'status', NEW.course_id, NEW.status, 1), (NEW.company_id, 'updated', NEW.updated_at / 10000 * 10, '', 1);
  INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
  SELECT NEW.company_id, 'overdue', NEW.course_id, '', 1 WHERE NEW.overdue_at IS NOT NULL AND NEW.status <> 'completed';
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER assignments_counted_delete AFTER DELETE ON assignments WHEN OLD.revoked_at IS NULL
BEGIN
  INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
  VALUES (OLD.company_id, 'status', OLD.course_id, OLD.status, -1), (OLD.company_id, 'updated', OLD.updated_at / 10000 * 10, '', -1);
  INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
  SELECT OLD.company_id, 'overdue', OLD.course_id, '', -1 WHERE OLD.overdue_at IS NOT NULL AND OLD.status <> 'completed';
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER assignments_counted_update AFTER UPDATE ON assignments
BEGIN
  INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
  SELECT OLD.company_id, 'status', OLD.course_id, OLD.status, -1 WHERE OLD.revoked_at IS NULL
    AND (NEW.revoked_at IS NOT NULL OR NEW.status <> OLD.status OR NEW.course_id <> OLD.course_id OR NEW.company_id <> OLD.company_id)
  UNION ALL SELECT NEW.company_id, 'status', NEW.course_id, NEW.status, 1 WHERE NEW.revoked_at IS NULL
    AND (OLD.revoked_at IS NOT NULL OR NEW.status <> OLD.status OR NEW.course_id <> OLD.course_id OR NEW.company_id <> OLD.company_id)
  UNION ALL SELECT OLD.company_id, 'updated', OLD.updated_at / 10000 * 10, '', -1 WHERE OLD.revoked_at IS NULL
  UNION ALL SELECT NEW.company_id, 'updated', NEW.updated_at / 10000 * 10, '', 1 WHERE NEW.revoked_at IS NULL
  UNION ALL SELECT OLD.company_id, 'overdue', OLD.course_id, '', -1
    WHERE OLD.revoked_at IS NULL AND OLD.overdue_at IS NOT NULL AND OLD.status <> 'completed'
  UNION ALL SELECT NEW.company_id, 'overdue', NEW.course_id, '', 1
    WHERE NEW.revoked_at IS NULL AND NEW.overdue_at IS NOT NULL AND NEW.status <> 'completed';
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER employees_counted_insert AFTER INSERT ON employees WHEN NEW.left_at IS NULL
BEGIN
  INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
  SELECT NEW.company_id, 'employee', 0, '', 1
  UNION ALL SELECT NEW.company_id, 'employee', 0, t.value, 1 FROM json_each(NEW.tags) t;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER employees_counted_delete AFTER DELETE ON employees WHEN OLD.left_at IS NULL
BEGIN
  INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
  SELECT OLD.company_id, 'employee', 0, '', -1
  UNION ALL SELECT OLD.company_id, 'employee', 0, t.value, -1 FROM json_each(OLD.tags) t;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER employees_counted_update AFTER UPDATE OF company_id, left_at, tags ON employees
BEGIN
  INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
  SELECT OLD.company_id, 'employee', 0, '', -1 WHERE OLD.left_at IS NULL
  UNION ALL SELECT OLD.company_id, 'employee', 0, t.value, -1 FROM json_each(OLD.tags) t WHERE OLD.left_at IS NULL
  UNION ALL SELECT NEW.company_id, 'employee', 0, '', 1 WHERE NEW.left_at IS NULL
  UNION ALL SELECT NEW.company_id, 'employee', 0, t.value, 1 FROM json_each(NEW.tags) t WHERE NEW.left_at IS NULL;
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER employees_counted_update;
DROP TRIGGER employees_counted_delete;
DROP TRIGGER employees_counted_insert;
DROP TRIGGER assignments_counted_update;
DROP TRIGGER assignments_counted_delete;
DROP TRIGGER assignments_counted_insert;
DROP TABLE total_companies;
DROP TABLE total_changes;
DROP TABLE totals;
