-- +goose Up

-- The figures of the home page and of courses: see docs/adr/0008-kept-totals.md. They are complete from this instant on;
-- a null is a company whose figures an older program began.
ALTER TABLE total_companies ADD COLUMN figures_kept_at INTEGER;

-- +goose StatementBegin
CREATE TRIGGER assignments_figures_insert AFTER INSERT ON assignments WHEN NEW.revoked_at IS NULL
BEGIN
  INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
  SELECT NEW.company_id, 'required', NEW.course_id, NEW.status, 1 WHERE NEW.revoked_at IS NULL AND NEW.is_required
  UNION ALL SELECT NEW.company_id, 'due', NEW.deadline / 3600000 * 3600, '', 1 WHERE NEW.revoked_at IS NULL AND NEW.status <> 'completed'
  UNION ALL SELECT NEW.company_id, 'completed', NEW.completed_at / 3600000 * 3600, '', 1 WHERE NEW.revoked_at IS NULL AND NEW.status = 'completed' AND NEW.completed_at IS NOT NULL
  UNION ALL SELECT NEW.company_id, 'days', NEW.course_id, CAST((NEW.completed_at / 1000 - NEW.assigned_at / 1000) / 86400 AS TEXT), 1 WHERE NEW.revoked_at IS NULL AND NEW.status = 'completed' AND NEW.completed_at IS NOT NULL
  ON CONFLICT (company_id, kind, number_key, text_key) DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER assignments_figures_delete AFTER DELETE ON assignments WHEN OLD.revoked_at IS NULL
BEGIN
  INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
  SELECT OLD.company_id, 'required', OLD.course_id, OLD.status, -1 WHERE OLD.revoked_at IS NULL AND OLD.is_required
  UNION ALL SELECT OLD.company_id, 'due', OLD.deadline / 3600000 * 3600, '', -1 WHERE OLD.revoked_at IS NULL AND OLD.status <> 'completed'
  UNION ALL SELECT OLD.company_id, 'completed', OLD.completed_at / 3600000 * 3600, '', -1 WHERE OLD.revoked_at IS NULL AND OLD.status = 'completed' AND OLD.completed_at IS NOT NULL
  UNION ALL SELECT OLD.company_id, 'days', OLD.course_id, CAST((OLD.completed_at / 1000 - OLD.assigned_at / 1000) / 86400 AS TEXT), -1 WHERE OLD.revoked_at IS NULL AND OLD.status = 'completed' AND OLD.completed_at IS NOT NULL
  ON CONFLICT (company_id, kind, number_key, text_key) DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER assignments_figures_update AFTER UPDATE ON assignments
  WHEN NEW.revoked_at IS NOT OLD.revoked_at OR NEW.status <> OLD.status OR NEW.deadline <> OLD.deadline OR NEW.is_required <> OLD.is_required
    OR NEW.completed_at IS NOT OLD.completed_at OR NEW.assigned_at <> OLD.assigned_at OR NEW.course_id <> OLD.course_id
    OR NEW.company_id <> OLD.company_id
BEGIN
  INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
  SELECT OLD.company_id, 'required', OLD.course_id, OLD.status, -1 WHERE OLD.revoked_at IS NULL AND OLD.is_required
  UNION ALL SELECT OLD.company_id, 'due', OLD.deadline / 3600000 * 3600, '', -1 WHERE OLD.revoked_at IS NULL AND OLD.status <> 'completed'
  UNION ALL SELECT OLD.company_id, 'completed', OLD.completed_at / 3600000 * 3600, '', -1 WHERE OLD.revoked_at IS NULL AND OLD.status = 'completed' AND OLD.completed_at IS NOT NULL
  UNION ALL SELECT OLD.company_id, 'days', OLD.course_id, CAST((OLD.completed_at / 1000 - OLD.assigned_at / 1000) / 86400 AS TEXT), -1 WHERE OLD.revoked_at IS NULL AND OLD.status = 'completed' AND OLD.completed_at IS NOT NULL
  UNION ALL SELECT NEW.company_id, 'required', NEW.course_id, NEW.status, 1 WHERE NEW.revoked_at IS NULL AND NEW.is_required
  UNION ALL SELECT NEW.company_id, 'due', NEW.deadline / 3600000 * 3600, '', 1 WHERE NEW.revoked_at IS NULL AND NEW.status <> 'completed'
  UNION ALL SELECT NEW.company_id, 'completed', NEW.completed_at / 3600000 * 3600, '', 1 WHERE NEW.revoked_at IS NULL AND NEW.status = 'completed' AND NEW.completed_at IS NOT NULL
  UNION ALL SELECT NEW.company_id, 'days', NEW.course_id, CAST((NEW.completed_at / 1000 - NEW.assigned_at / 1000) / 86400 AS TEXT), 1 WHERE NEW.revoked_at IS NULL AND NEW.status = 'completed' AND NEW.completed_at IS NOT NULL
  ON CONFLICT (company_id, kind, number_key, text_key) DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd

-- What is completed is counted by when, a day at a time.
CREATE INDEX assignments_completed ON assignments (company_id, completed_at) WHERE revoked_at IS NULL AND status = 'completed';

-- +goose Down
DROP INDEX assignments_completed;
DROP TRIGGER assignments_figures_update;
DROP TRIGGER assignments_figures_delete;
DROP TRIGGER assignments_figures_insert;
DELETE FROM total_changes WHERE kind IN ('required', 'due', 'completed', 'days');
DELETE FROM totals WHERE kind IN ('required', 'due', 'completed', 'days', 'day');
ALTER TABLE total_companies DROP COLUMN figures_kept_at;
