-- +goose Up

-- Background work of companies, done step by step.
CREATE TABLE jobs (
  company_id   INTEGER NOT NULL REFERENCES companies (id),
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  kind         TEXT NOT NULL,
  input        TEXT NOT NULL,
  total        INTEGER NOT NULL,
  done         INTEGER NOT NULL,
  cursor       TEXT NOT NULL,
  result       TEXT NOT NULL,
  failures     INTEGER NOT NULL,
  problem      TEXT NOT NULL,
  actor_kind   TEXT NOT NULL,
  actor_id     INTEGER NOT NULL,
  requested_by TEXT NOT NULL,
  role         TEXT NOT NULL,
  address      TEXT NOT NULL,
  request_id   TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  finished_at  INTEGER,
  canceled_at  INTEGER,
  UNIQUE (company_id, id)
);
CREATE INDEX jobs_open ON jobs (company_id, id) WHERE finished_at IS NULL;
CREATE INDEX jobs_finished ON jobs (finished_at);

-- The records that a job works on, and what became of each.
CREATE TABLE job_items (
  company_id INTEGER NOT NULL,
  job_id     INTEGER NOT NULL,
  record_id  INTEGER NOT NULL,
  outcome    TEXT NOT NULL DEFAULT '',
  at         INTEGER,
  PRIMARY KEY (company_id, job_id, record_id),
  FOREIGN KEY (company_id, job_id) REFERENCES jobs (company_id, id) ON DELETE CASCADE
);

-- +goose Down
DROP TABLE job_items;
DROP TABLE jobs;
