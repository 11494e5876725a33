-- +goose Up
-- Assignments are inserted by transactions that hold the rows of their employees locked, and whoever deletes employees
-- deletes their assignments under the same lock (erasure) or until none is left (the deletion of a company). PostgreSQL
-- checked each row once more: a quarter of the processor time of inserting 500 assignments.
ALTER TABLE assignments DROP CONSTRAINT assignments_company_id_employee_id_fkey;

-- +goose Down
ALTER TABLE assignments ADD FOREIGN KEY (company_id, employee_id) REFERENCES employees (company_id, id);
