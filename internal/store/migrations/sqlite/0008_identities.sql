-- +goose Up

-- When the operator's link last proved that an address belongs to who enters with it.
ALTER TABLE administrators ADD COLUMN vouched_at INTEGER;
UPDATE administrators SET vouched_at = created_at WHERE EXISTS (SELECT 1 FROM company_administrators m
  WHERE m.administrator_id = administrators.id AND m.added_by NOT LIKE '%@%' AND m.added_by NOT LIKE 'person:%');

-- The role in a company: owner, administrator or viewer. The sign-in is the latest
-- one into this company; sign-ins elsewhere are none of its business.
ALTER TABLE company_administrators ADD COLUMN role TEXT NOT NULL DEFAULT 'owner';
ALTER TABLE company_administrators ADD COLUMN last_sign_in_at INTEGER;
UPDATE company_administrators SET last_sign_in_at = (SELECT a.last_sign_in_at FROM administrators a
  WHERE a.id = company_administrators.administrator_id)
  WHERE NOT EXISTS (SELECT 1 FROM company_administrators o
    WHERE o.administrator_id = company_administrators.administrator_id AND o.company_id <> company_administrators.company_id);

-- The kind is that of domain.LinkKind, empty for older links; the role is the one
-- that an invitation offers.
ALTER TABLE sign_in_links ADD COLUMN kind TEXT NOT NULL DEFAULT '';
ALTER TABLE sign_in_links ADD COLUMN role TEXT NOT NULL DEFAULT 'owner';

-- Identities that serve no company are removed. The logs name people by id: this is
-- what they show for those who are gone, for as long as the logs are kept.
CREATE TABLE former_administrators (
  administrator_id INTEGER PRIMARY KEY,
  email            TEXT NOT NULL,
  email_folded     TEXT NOT NULL,
  removed_at       INTEGER NOT NULL
);
CREATE INDEX former_administrators_email ON former_administrators (email_folded);

-- What happened to the platform itself and belongs to no company.
CREATE TABLE platform_audit_entries (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  at          INTEGER NOT NULL,
  actor_kind  TEXT NOT NULL,
  actor_id    INTEGER NOT NULL,
  actor_label TEXT NOT NULL,
  action      TEXT NOT NULL,
  record_kind TEXT NOT NULL,
  record_id   TEXT NOT NULL,
  request_id  TEXT NOT NULL,
  address     TEXT NOT NULL,
  detail      TEXT NOT NULL
);

-- +goose Down
DROP TABLE platform_audit_entries;
DROP TABLE former_administrators;
ALTER TABLE sign_in_links DROP COLUMN role;
ALTER TABLE sign_in_links DROP COLUMN kind;
ALTER TABLE company_administrators DROP COLUMN last_sign_in_at;
ALTER TABLE company_administrators DROP COLUMN role;
ALTER TABLE administrators DROP COLUMN vouched_at;
