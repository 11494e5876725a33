-- +goose Up

-- Changes of the same total are one row: there is one writer, so nobody waits for another. With a row per change, adding
-- them to the totals cost a seventh of the processor time of bulks.
DROP TRIGGER assignments_counted_insert;
DROP TRIGGER assignments_counted_delete;
DROP TRIGGER assignments_counted_update;
DROP TRIGGER employees_counted_insert;
DROP TRIGGER employees_counted_delete;
DROP TRIGGER employees_counted_update;
CREATE TABLE summed_changes (
  company_id INTEGER NOT NULL,
  id         INTEGER PRIMARY KEY,
  kind       TEXT NOT NULL,
  number_key INTEGER NOT NULL,
  text_key   TEXT NOT NULL,
  n          INTEGER NOT NULL,
  UNIQUE (company_id, id),
  UNIQUE (company_id, kind, number_key, text_key)
);
INSERT INTO summed_changes (company_id, kind, number_key, text_key, n)
SELECT company_id, kind, number_key, text_key, sum(n) FROM total_changes GROUP BY 1, 2, 3, 4;
DROP TABLE total_changes;
ALTER TABLE summed_changes RENAME TO total_changes;

-- +goose StatementBegin
CREATE TRIGGER assignments_counted_insert AFTER INSERT ON assignments WHEN NEW.revoked_at IS NULL
BEGIN
  INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
  VALUES (NEW.company_id, 'status', NEW.course_id, NEW.status, 1), (NEW.company_id, 'updated', NEW.updated_at / 10000 * 10, '', 1)
  ON CONFLICT (company_id, kind, number_key, text_key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
  SELECT NEW.company_id, 'overdue', NEW.course_id, '', 1 WHERE NEW.overdue_at IS NOT NULL AND NEW.status <> 'completed'
  ON CONFLICT (company_id, kind, number_key, text_key) DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER assignments_counted_delete AFTER DELETE ON assignments WHEN OLD.revoked_at IS NULL
BEGIN
  INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
  VALUES (OLD.company_id, 'status', OLD.course_id, OLD.status, -1), (OLD.company_id, 'updated', OLD.updated_at / 10000 * 10, '', -1)
  ON CONFLICT (company_id, kind, number_key, text_key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
  SELECT OLD.company_id, 'overdue', OLD.course_id, '', -1 WHERE OLD.overdue_at IS NOT NULL AND OLD.status <> 'completed'
  ON CONFLICT (company_id, kind, number_key, text_key) DO UPDATE SET n = n + excluded.n;
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
    WHERE NEW.revoked_at IS NULL AND NEW.overdue_at IS NOT NULL AND NEW.status <> 'completed'
  ON CONFLICT (company_id, kind, number_key, text_key) DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER employees_counted_insert AFTER INSERT ON employees WHEN NEW.left_at IS NULL
BEGIN
  INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
  SELECT NEW.company_id, 'employee', 0, '', 1
  UNION ALL SELECT NEW.company_id, 'employee', 0, t.value, 1 FROM json_each(NEW.tags) t WHERE true
  ON CONFLICT (company_id, kind, number_key, text_key) DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER employees_counted_delete AFTER DELETE ON employees WHEN OLD.left_at IS NULL
BEGIN
  INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
  SELECT OLD.company_id, 'employee', 0, '', -1
  UNION ALL SELECT OLD.company_id, 'employee', 0, t.value, -1 FROM json_each(OLD.tags) t WHERE true
  ON CONFLICT (company_id, kind, number_key, text_key) DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER employees_counted_update AFTER UPDATE OF company_id, left_at, tags ON employees
BEGIN
  INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
  SELECT OLD.company_id, 'employee', 0, '', -1 WHERE OLD.left_at IS NULL
  UNION ALL SELECT OLD.company_id, 'employee', 0, t.value, -1 FROM json_each(OLD.tags) t WHERE OLD.left_at IS NULL
  UNION ALL SELECT NEW.company_id, 'employee', 0, '', 1 WHERE NEW.left_at IS NULL
  UNION ALL SELECT NEW.company_id, 'employee', 0, t.value, 1 FROM json_each(NEW.tags) t WHERE NEW.left_at IS NULL
  ON CONFLICT (company_id, kind, number_key, text_key) DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER assignments_counted_insert;
DROP TRIGGER assignments_counted_delete;
DROP TRIGGER assignments_counted_update;
DROP TRIGGER employees_counted_insert;
DROP TRIGGER employees_counted_delete;
DROP TRIGGER employees_counted_update;
CREATE TABLE single_changes (
  company_id INTEGER NOT NULL,
  id         INTEGER PRIMARY KEY,
  kind       TEXT NOT NULL,
  number_key INTEGER NOT NULL,
  text_key   TEXT NOT NULL,
  n          INTEGER NOT NULL,
  UNIQUE (company_id, id)
);
INSERT INTO single_changes (company_id, id, kind, number_key, text_key, n)
SELECT company_id, id, kind, number_key, text_key, n FROM total_changes;
DROP TABLE total_changes;
ALTER TABLE single_changes RENAME TO total_changes;

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
