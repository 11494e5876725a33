-- +goose Up

-- What a company's log keeps of the bodies of failed requests: see
-- domain.RequestBodies.
ALTER TABLE companies ADD COLUMN request_bodies text NOT NULL DEFAULT '';

ALTER TABLE api_requests ADD COLUMN message text NOT NULL DEFAULT '';
ALTER TABLE api_requests ADD COLUMN request_body text NOT NULL DEFAULT '';

-- Digests of the personal values in bodies that show some of them, so that an erasure
-- finds them; request_id is folded as in the index of api_requests.
CREATE TABLE api_request_mentions (
  company_id bigint NOT NULL REFERENCES companies (id),
  digest     bigint NOT NULL,
  request_id text NOT NULL,
  at         timestamptz NOT NULL,
  PRIMARY KEY (company_id, digest, request_id, at)
);
CREATE INDEX api_request_mentions_at ON api_request_mentions (company_id, at);

-- Digests of the people who were erased a short while ago: a request that was made
-- before may be written into the log after.
CREATE TABLE erased_mentions (
  company_id bigint NOT NULL REFERENCES companies (id),
  digest     bigint NOT NULL,
  at         timestamptz NOT NULL,
  PRIMARY KEY (company_id, digest)
);

-- +goose Down
DROP TABLE erased_mentions;
DROP TABLE api_request_mentions;
ALTER TABLE api_requests DROP COLUMN request_body;
ALTER TABLE api_requests DROP COLUMN message;
ALTER TABLE companies DROP COLUMN request_bodies;
