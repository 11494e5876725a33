-- +goose Up

-- Who changed an assignment, and how: null where a learner did.
ALTER TABLE assignment_history ADD COLUMN actor_kind text;
ALTER TABLE assignment_history ADD COLUMN actor text;
ALTER TABLE assignment_history ADD COLUMN detail text;

-- The cabinet lists what is overdue and what is due soon.
CREATE INDEX assignments_open_deadline ON assignments (company_id, deadline, id) WHERE revoked_at IS NULL AND status <> 'completed';

-- Archived courses can't be assigned. A slice's module names the one of its course.
ALTER TABLE courses ADD COLUMN archived_at timestamptz;
ALTER TABLE course_modules ADD COLUMN source_position integer;

-- +goose Down
ALTER TABLE course_modules DROP COLUMN source_position;
ALTER TABLE courses DROP COLUMN archived_at;
DROP INDEX assignments_open_deadline;
ALTER TABLE assignment_history DROP COLUMN detail;
ALTER TABLE assignment_history DROP COLUMN actor;
ALTER TABLE assignment_history DROP COLUMN actor_kind;
