-- +goose Up

-- Calls of the public API, for the company's log of requests: some of many, see
-- service.Requests. They hold no personal data.
CREATE TABLE api_requests (
  company_id  INTEGER NOT NULL REFERENCES companies (id),
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  at          INTEGER NOT NULL,
  token_id    INTEGER NOT NULL,
  method      TEXT NOT NULL,
  route       TEXT NOT NULL,
  status      INTEGER NOT NULL,
  duration_us INTEGER NOT NULL,
  request_id  TEXT NOT NULL,
  code        TEXT NOT NULL,
  UNIQUE (company_id, id)
);
CREATE INDEX api_requests_at ON api_requests (company_id, at, id);
CREATE INDEX api_requests_token ON api_requests (company_id, token_id, at, id);
CREATE INDEX api_requests_failed ON api_requests (company_id, at, id) WHERE status >= 400;
CREATE INDEX api_requests_token_failed ON api_requests (company_id, token_id, at, id) WHERE status >= 400;
CREATE INDEX api_requests_request ON api_requests (company_id, lower(request_id));

-- All calls are counted, by token and hour.
CREATE TABLE api_request_hours (
  company_id INTEGER NOT NULL REFERENCES companies (id),
  hour       INTEGER NOT NULL,
  token_id   INTEGER NOT NULL,
  succeeded  INTEGER NOT NULL,
  failed     INTEGER NOT NULL,
  PRIMARY KEY (company_id, hour, token_id)
);

-- +goose Down
DROP TABLE api_request_hours;
DROP TABLE api_requests;
