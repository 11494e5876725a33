-- +goose Up

-- How many of the failed calls were answered with a status of 500 or more.
ALTER TABLE api_request_hours ADD COLUMN server_errors INTEGER NOT NULL DEFAULT 0;

-- The calls that succeeded, for a company or a token most of whose calls fail.
CREATE INDEX api_requests_succeeded ON api_requests (company_id, at, id) WHERE status < 400;
CREATE INDEX api_requests_token_succeeded ON api_requests (company_id, token_id, at, id) WHERE status < 400;

-- +goose Down
DROP INDEX api_requests_token_succeeded;
DROP INDEX api_requests_succeeded;
ALTER TABLE api_request_hours DROP COLUMN server_errors;
