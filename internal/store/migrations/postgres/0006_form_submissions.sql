-- +goose Up

-- Forms of the cabinet that were submitted, so that none acts twice.
CREATE TABLE form_submissions (
  session_hash bytea NOT NULL,
  nonce        TEXT NOT NULL,
  at           timestamptz NOT NULL,
  location     TEXT NOT NULL,
  PRIMARY KEY (session_hash, nonce)
);
CREATE INDEX form_submissions_at ON form_submissions (at);

-- +goose Down
DROP TABLE form_submissions;
