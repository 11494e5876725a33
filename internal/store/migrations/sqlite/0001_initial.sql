-- +goose Up

-- The platform's own tables: they belong to no company.

CREATE TABLE companies (
  id                    INTEGER PRIMARY KEY AUTOINCREMENT,
  name                  TEXT NOT NULL,
  time_zone             TEXT NOT NULL,
  default_deadline_days INTEGER NOT NULL,
  suspended_at          INTEGER,
  created_at            INTEGER NOT NULL
);

-- An account is one e-mail address on the learning platform.
CREATE TABLE accounts (
  email_folded TEXT PRIMARY KEY,
  created_at   INTEGER NOT NULL
);

-- owner_company_id 0 is the platform itself; parent_id is set for slices.
CREATE TABLE courses (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  owner_company_id INTEGER NOT NULL,
  parent_id        INTEGER REFERENCES courses (id),
  external_id      TEXT,
  name             TEXT NOT NULL,
  is_assessment    INTEGER NOT NULL,
  pass_mark        INTEGER NOT NULL,
  allowed_attempts INTEGER NOT NULL,
  created_at       INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL
);
CREATE UNIQUE INDEX courses_external_id ON courses (owner_company_id, external_id);

CREATE TABLE course_modules (
  course_id INTEGER NOT NULL REFERENCES courses (id),
  position  INTEGER NOT NULL,
  title     TEXT NOT NULL,
  PRIMARY KEY (course_id, position)
);

CREATE TABLE platform_tokens (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL,
  hash       BLOB NOT NULL UNIQUE,
  last_four  TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
);

-- The platform's activity ids, so that a repeated report changes nothing.
CREATE TABLE activities (
  id            TEXT PRIMARY KEY,
  assignment_id INTEGER NOT NULL,
  received_at   INTEGER NOT NULL
);

CREATE INDEX activities_assignment ON activities (assignment_id);

-- Administrators are people who sign in; one may serve several companies.
CREATE TABLE administrators (
  id                  INTEGER PRIMARY KEY AUTOINCREMENT,
  email               TEXT NOT NULL,
  email_folded        TEXT NOT NULL UNIQUE,
  name                TEXT NOT NULL,
  password_hash       TEXT,
  password_changed_at INTEGER,
  totp_secret         BLOB,
  totp_confirmed_at   INTEGER,
  recovery_hashes     TEXT NOT NULL,
  theme               TEXT NOT NULL,
  created_at          INTEGER NOT NULL,
  last_sign_in_at     INTEGER
);

CREATE TABLE sign_in_links (
  hash             BLOB PRIMARY KEY,
  administrator_id INTEGER NOT NULL REFERENCES administrators (id) ON DELETE CASCADE,
  for_company_id   INTEGER NOT NULL,
  name             TEXT NOT NULL,
  created_at       INTEGER NOT NULL,
  expires_at       INTEGER NOT NULL,
  used_at          INTEGER
);

CREATE TABLE sessions (
  hash             BLOB NOT NULL UNIQUE,
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  administrator_id INTEGER NOT NULL,
  data             BLOB NOT NULL,
  created_at       INTEGER NOT NULL,
  seen_at          INTEGER NOT NULL,
  expires_at       INTEGER NOT NULL,
  address          TEXT NOT NULL,
  user_agent       TEXT NOT NULL
);
CREATE INDEX sessions_administrator ON sessions (administrator_id);
CREATE INDEX sessions_expiry ON sessions (expires_at);

CREATE TABLE sign_in_throttles (
  key           TEXT PRIMARY KEY,
  failures      INTEGER NOT NULL,
  blocked_until INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
);

CREATE TABLE settings (
  key   TEXT PRIMARY KEY,
  value BLOB NOT NULL
);

-- Counters that tell every replica that what it keeps in memory is stale.
CREATE TABLE cache_versions (
  name    TEXT PRIMARY KEY,
  version INTEGER NOT NULL
);
INSERT INTO cache_versions (name, version) VALUES ('tokens', 1);

-- Work that one replica at a time does.
CREATE TABLE leases (
  name  TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  until INTEGER NOT NULL
);

-- The companies' tables: company_id leads every key.

CREATE TABLE company_administrators (
  company_id       INTEGER NOT NULL REFERENCES companies (id),
  administrator_id INTEGER NOT NULL REFERENCES administrators (id) ON DELETE CASCADE,
  added_at         INTEGER NOT NULL,
  added_by         TEXT NOT NULL,
  PRIMARY KEY (company_id, administrator_id)
);
CREATE INDEX company_administrators_person ON company_administrators (administrator_id);

CREATE TABLE employees (
  company_id   INTEGER NOT NULL REFERENCES companies (id),
  id           INTEGER NOT NULL,
  external_id  TEXT,
  email        TEXT NOT NULL,
  email_folded TEXT NOT NULL REFERENCES accounts (email_folded),
  name         TEXT NOT NULL,
  role         TEXT NOT NULL,
  tags         TEXT NOT NULL,
  joined_at    INTEGER NOT NULL,
  left_at      INTEGER,
  updated_at   INTEGER NOT NULL,
  PRIMARY KEY (company_id, id)
);
-- Each says what it is for, so that a planner without statistics does not take one for the other.
CREATE UNIQUE INDEX employees_external_id ON employees (company_id, external_id) WHERE left_at IS NULL AND external_id IS NOT NULL;
CREATE UNIQUE INDEX employees_email ON employees (company_id, email_folded) WHERE left_at IS NULL AND email_folded IS NOT NULL;
CREATE INDEX employees_former ON employees (company_id, email_folded) WHERE left_at IS NOT NULL AND email_folded IS NOT NULL;
CREATE INDEX employees_former_external_id ON employees (company_id, external_id) WHERE left_at IS NOT NULL AND external_id IS NOT NULL;
CREATE INDEX employees_account ON employees (email_folded);

CREATE TABLE employee_tags (
  company_id  INTEGER NOT NULL,
  tag         TEXT NOT NULL,
  employee_id INTEGER NOT NULL,
  PRIMARY KEY (company_id, tag, employee_id),
  FOREIGN KEY (company_id, employee_id) REFERENCES employees (company_id, id) ON DELETE CASCADE
);
CREATE INDEX employee_tags_employee ON employee_tags (company_id, employee_id);

CREATE TABLE course_grants (
  company_id INTEGER NOT NULL REFERENCES companies (id),
  course_id  INTEGER NOT NULL REFERENCES courses (id),
  granted_at INTEGER NOT NULL,
  PRIMARY KEY (company_id, course_id)
);

CREATE TABLE assignments (
  company_id       INTEGER NOT NULL,
  id               INTEGER NOT NULL,
  external_id      TEXT NOT NULL,
  employee_id      INTEGER NOT NULL,
  course_id        INTEGER NOT NULL,
  status           TEXT NOT NULL,
  percent          INTEGER NOT NULL,
  score            INTEGER,
  attempts         INTEGER NOT NULL,
  granted_attempts INTEGER NOT NULL,
  is_required      INTEGER NOT NULL,
  assigned_at      INTEGER NOT NULL,
  deadline         INTEGER NOT NULL,
  asked_deadline   INTEGER NOT NULL,
  asked_required   INTEGER NOT NULL,
  started_at       INTEGER,
  attempt_at       INTEGER,
  ended_at         INTEGER,
  completed_at     INTEGER,
  last_activity_at INTEGER,
  overdue_at       INTEGER,
  revoked_at       INTEGER,
  updated_at       INTEGER NOT NULL,
  PRIMARY KEY (company_id, id),
  FOREIGN KEY (company_id, employee_id) REFERENCES employees (company_id, id)
);
CREATE UNIQUE INDEX assignments_external_id ON assignments (company_id, external_id) WHERE revoked_at IS NULL;
CREATE INDEX assignments_id ON assignments (id);
CREATE INDEX assignments_employee ON assignments (company_id, employee_id, id);
CREATE INDEX assignments_course ON assignments (company_id, course_id, id) WHERE revoked_at IS NULL;
CREATE INDEX assignments_status ON assignments (company_id, status, id) WHERE revoked_at IS NULL;
CREATE INDEX assignments_updated ON assignments (company_id, updated_at, id) WHERE revoked_at IS NULL;
CREATE INDEX assignments_due ON assignments (deadline) WHERE overdue_at IS NULL AND revoked_at IS NULL AND status <> 'completed';
CREATE INDEX assignments_revoked_external_id ON assignments (company_id, external_id) WHERE revoked_at IS NOT NULL;

CREATE TABLE assignment_attempts (
  company_id    INTEGER NOT NULL,
  assignment_id INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  started_at    INTEGER NOT NULL,
  ended_at      INTEGER,
  score         INTEGER,
  passed        INTEGER,
  PRIMARY KEY (company_id, assignment_id, number),
  FOREIGN KEY (company_id, assignment_id) REFERENCES assignments (company_id, id) ON DELETE CASCADE
);

CREATE TABLE assignment_history (
  company_id    INTEGER NOT NULL,
  assignment_id INTEGER NOT NULL,
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  at            INTEGER NOT NULL,
  from_status   TEXT NOT NULL,
  to_status     TEXT NOT NULL,
  cause         TEXT NOT NULL,
  UNIQUE (company_id, assignment_id, id),
  FOREIGN KEY (company_id, assignment_id) REFERENCES assignments (company_id, id) ON DELETE CASCADE
);

-- What stays of an erased person's results.
CREATE TABLE anonymous_results (
  company_id      INTEGER NOT NULL REFERENCES companies (id),
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  course_id       INTEGER NOT NULL,
  score           INTEGER,
  attempts        INTEGER NOT NULL,
  passed          INTEGER NOT NULL,
  completed_month TEXT NOT NULL,
  UNIQUE (company_id, id)
);

CREATE TABLE tokens (
  company_id   INTEGER NOT NULL REFERENCES companies (id),
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  name         TEXT NOT NULL,
  hash         BLOB NOT NULL,
  last_four    TEXT NOT NULL,
  scopes       TEXT NOT NULL,
  allowed      TEXT NOT NULL,
  created_by   TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  revoked_at   INTEGER,
  last_used_at INTEGER,
  last_used_ip TEXT NOT NULL,
  UNIQUE (company_id, id)
);
CREATE INDEX tokens_hash ON tokens (hash);
CREATE INDEX tokens_id ON tokens (id);

CREATE TABLE events (
  company_id    INTEGER NOT NULL REFERENCES companies (id),
  id            INTEGER NOT NULL,
  kind          TEXT NOT NULL,
  occurred_at   INTEGER NOT NULL,
  employee_id   INTEGER NOT NULL,
  assignment_id INTEGER NOT NULL,
  external_id   TEXT NOT NULL,
  body          BLOB NOT NULL,
  erased_at     INTEGER,
  PRIMARY KEY (company_id, id)
);
CREATE INDEX events_employee ON events (company_id, employee_id);
CREATE INDEX events_external_id ON events (company_id, external_id, id);
CREATE INDEX events_occurred ON events (occurred_at);
CREATE INDEX events_erased ON events (company_id, id) WHERE erased_at IS NOT NULL;

CREATE TABLE endpoints (
  company_id      INTEGER NOT NULL REFERENCES companies (id),
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  url             TEXT NOT NULL,
  description     TEXT NOT NULL,
  events          TEXT NOT NULL,
  past_events     TEXT NOT NULL DEFAULT '[]',
  secret          BLOB NOT NULL,
  previous_secret BLOB,
  previous_until  INTEGER,
  created_at      INTEGER NOT NULL,
  created_by      TEXT NOT NULL,
  disabled_at     INTEGER,
  disabled_reason TEXT NOT NULL,
  failing_since   INTEGER,
  removed_at      INTEGER,
  lease_owner     TEXT NOT NULL,
  lease_until     INTEGER NOT NULL,
  UNIQUE (company_id, id)
);
CREATE INDEX endpoints_id ON endpoints (id);

CREATE TABLE deliveries (
  company_id   INTEGER NOT NULL,
  id           TEXT NOT NULL,
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  endpoint_id  INTEGER NOT NULL,
  event_id     INTEGER NOT NULL,
  kind         TEXT NOT NULL,
  state        TEXT NOT NULL,
  attempts     INTEGER NOT NULL,
  round_start  INTEGER NOT NULL,
  due_at       INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  finished_at  INTEGER,
  status_code  INTEGER NOT NULL,
  error_kind   TEXT NOT NULL,
  requested_by TEXT NOT NULL,
  UNIQUE (company_id, id)
);
CREATE UNIQUE INDEX deliveries_event ON deliveries (company_id, event_id, endpoint_id);
CREATE INDEX deliveries_due ON deliveries (endpoint_id, due_at, seq) WHERE state = 'pending';
CREATE INDEX deliveries_log ON deliveries (company_id, kind, created_at, id);
CREATE INDEX deliveries_endpoint_log ON deliveries (company_id, endpoint_id, state, created_at, id, kind) WHERE state <> 'pending';
CREATE INDEX deliveries_unfinished ON deliveries (company_id, state, kind, created_at, id, endpoint_id) WHERE state <> 'delivered';

CREATE TABLE delivery_attempts (
  company_id       INTEGER NOT NULL,
  delivery_id      TEXT NOT NULL,
  number           INTEGER NOT NULL,
  url              TEXT NOT NULL,
  started_at       INTEGER NOT NULL,
  duration_us      INTEGER NOT NULL,
  status_code      INTEGER NOT NULL,
  error_kind       TEXT NOT NULL,
  error            TEXT NOT NULL,
  request_headers  TEXT NOT NULL,
  response_headers TEXT NOT NULL,
  response_body    BLOB NOT NULL,
  requested_by     TEXT NOT NULL,
  PRIMARY KEY (company_id, delivery_id, number)
);

CREATE TABLE redeliveries (
  company_id   INTEGER NOT NULL REFERENCES companies (id),
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  endpoint_id  INTEGER NOT NULL,
  states       TEXT NOT NULL,
  kind         TEXT NOT NULL,
  from_at      INTEGER NOT NULL,
  to_at        INTEGER NOT NULL,
  total        INTEGER NOT NULL,
  done         INTEGER NOT NULL,
  cursor       TEXT NOT NULL,
  requested_by TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  finished_at  INTEGER,
  UNIQUE (company_id, id)
);
CREATE INDEX redeliveries_open ON redeliveries (company_id, id) WHERE finished_at IS NULL;

CREATE TABLE audit_entries (
  company_id  INTEGER NOT NULL REFERENCES companies (id),
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  at          INTEGER NOT NULL,
  actor_kind  TEXT NOT NULL,
  actor_id    INTEGER NOT NULL,
  actor_label TEXT NOT NULL,
  action      TEXT NOT NULL,
  record_kind TEXT NOT NULL,
  record_id   TEXT NOT NULL,
  employee_id INTEGER NOT NULL,
  request_id  TEXT NOT NULL,
  address     TEXT NOT NULL,
  detail      TEXT NOT NULL,
  UNIQUE (company_id, id)
);
CREATE INDEX audit_entries_at ON audit_entries (company_id, at, id);
CREATE INDEX audit_entries_action ON audit_entries (company_id, action, actor_kind, at, id);
CREATE INDEX audit_entries_actor ON audit_entries (company_id, actor_kind, actor_id, action, at, id);
CREATE INDEX audit_entries_record ON audit_entries (company_id, record_id, at, id);
CREATE INDEX audit_entries_request ON audit_entries (company_id, request_id, at, id);

-- The last id given out per noun: ids are never used twice.
CREATE TABLE sequences (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
);
INSERT INTO sequences (name, value) VALUES ('employee_ids', 0), ('assignment_ids', 0), ('event_ids', 0);

-- The time of the latest change: writers never go behind it, readers take it as the sync watermark.
CREATE TABLE change_clock (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  at INTEGER NOT NULL
);
INSERT INTO change_clock (id, at) VALUES (1, 0);

-- +goose Down
DROP TABLE change_clock;
DROP TABLE sequences;
DROP TABLE audit_entries;
DROP TABLE redeliveries;
DROP TABLE delivery_attempts;
DROP TABLE deliveries;
DROP TABLE endpoints;
DROP TABLE events;
DROP TABLE tokens;
DROP TABLE anonymous_results;
DROP TABLE assignment_history;
DROP TABLE assignment_attempts;
DROP TABLE assignments;
DROP TABLE course_grants;
DROP TABLE employee_tags;
DROP TABLE employees;
DROP TABLE company_administrators;
DROP TABLE leases;
DROP TABLE cache_versions;
DROP TABLE settings;
DROP TABLE sign_in_throttles;
DROP TABLE sessions;
DROP TABLE sign_in_links;
DROP TABLE administrators;
DROP TABLE activities;
DROP TABLE platform_tokens;
DROP TABLE course_modules;
DROP TABLE courses;
DROP TABLE accounts;
DROP TABLE companies;
