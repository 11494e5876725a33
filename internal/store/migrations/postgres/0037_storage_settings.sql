-- +goose Up
-- PostgreSQL vacuums a table once a fifth of it is dead. In a table of millions of rows that is late: until then an index of few
-- rows, such as that of unfinished deliveries, is full of entries of dead ones, and what retention has deleted is not used
-- again. The settings were measured: see docs/operations/postgresql.md.
-- Nobody waits for these locks. A vacuum that is running gives way after a second, which is longer than other migrations wait.
SELECT set_config('lock_timeout', '5s', true);
ALTER TABLE deliveries SET (autovacuum_vacuum_scale_factor = 0.01);
ALTER TABLE assignments SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE employees SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE events SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE activities SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE api_requests SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE audit_entries SET (autovacuum_vacuum_scale_factor = 0.02);
-- The newest attempt of an assignment is updated once; no index holds what changes.
ALTER TABLE assignment_attempts SET (autovacuum_vacuum_scale_factor = 0.02, fillfactor = 90);

-- +goose Down
ALTER TABLE deliveries RESET (autovacuum_vacuum_scale_factor);
ALTER TABLE assignments RESET (autovacuum_vacuum_scale_factor);
ALTER TABLE employees RESET (autovacuum_vacuum_scale_factor);
ALTER TABLE events RESET (autovacuum_vacuum_scale_factor);
ALTER TABLE activities RESET (autovacuum_vacuum_scale_factor);
ALTER TABLE api_requests RESET (autovacuum_vacuum_scale_factor);
ALTER TABLE audit_entries RESET (autovacuum_vacuum_scale_factor);
ALTER TABLE assignment_attempts RESET (autovacuum_vacuum_scale_factor, fillfactor);
