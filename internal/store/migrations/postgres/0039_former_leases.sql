-- +goose Up
-- Leases of endpoints that ran out and were taken over lately. Their owners may not know it yet, and are asked too to send
-- nothing more about somebody who is erased.
CREATE TABLE former_leases (
  company_id bigint NOT NULL REFERENCES companies (id),
  owner      text NOT NULL,
  until      timestamptz NOT NULL,
  PRIMARY KEY (company_id, owner)
);

-- +goose Down
DROP TABLE former_leases;
