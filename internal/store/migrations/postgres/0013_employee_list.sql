-- +goose Up
-- The cabinet's list of employees: who has left, and who is overdue.
CREATE INDEX employees_left ON employees (company_id, id) WHERE left_at IS NOT NULL;
CREATE INDEX assignments_overdue_employee ON assignments (company_id, employee_id)
  WHERE overdue_at IS NOT NULL AND revoked_at IS NULL AND status <> 'completed';

-- +goose Down
DROP INDEX assignments_overdue_employee;
DROP INDEX employees_left;
