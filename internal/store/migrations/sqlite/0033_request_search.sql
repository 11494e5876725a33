-- +goose Up
-- The audit log is searched by the beginning of a request id, whatever its case. The index replaces one of the ids as they
-- were written, which could only be searched by a whole id.
CREATE INDEX audit_entries_request_id ON audit_entries (company_id, lower(request_id), at, id);
DROP INDEX audit_entries_request;

-- +goose Down
CREATE INDEX audit_entries_request ON audit_entries (company_id, request_id, at, id);
DROP INDEX audit_entries_request_id;
