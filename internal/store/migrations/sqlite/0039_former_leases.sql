-- +goose Up
-- The leases of an endpoint that ran out and were taken over lately, as JSON: their owners may not know it yet, and are
-- asked too to send nothing more about somebody who is erased.
ALTER TABLE endpoints ADD COLUMN former_leases TEXT NOT NULL DEFAULT '[]';

-- +goose Down
ALTER TABLE endpoints DROP COLUMN former_leases;
