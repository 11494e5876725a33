-- +goose Up

-- Rows named administrators by address: erasing one had to search large tables. They hold the id now.
UPDATE audit_entries SET actor_label = '' WHERE actor_kind = 'person' AND actor_label <> '';
UPDATE company_administrators SET added_by = 'person:' || (SELECT p.id FROM administrators p WHERE p.email = company_administrators.added_by)
  WHERE added_by <> '' AND EXISTS (SELECT 1 FROM administrators p WHERE p.email = company_administrators.added_by);
UPDATE tokens SET created_by = 'person:' || (SELECT p.id FROM administrators p WHERE p.email = tokens.created_by)
  WHERE created_by <> '' AND EXISTS (SELECT 1 FROM administrators p WHERE p.email = tokens.created_by);
UPDATE endpoints SET created_by = 'person:' || (SELECT p.id FROM administrators p WHERE p.email = endpoints.created_by)
  WHERE created_by <> '' AND EXISTS (SELECT 1 FROM administrators p WHERE p.email = endpoints.created_by);
UPDATE deliveries SET requested_by = 'person:' || (SELECT p.id FROM administrators p WHERE p.email = deliveries.requested_by)
  WHERE requested_by <> '' AND EXISTS (SELECT 1 FROM administrators p WHERE p.email = deliveries.requested_by);
UPDATE delivery_attempts SET requested_by = 'person:' || (SELECT p.id FROM administrators p WHERE p.email = delivery_attempts.requested_by)
  WHERE requested_by <> '' AND EXISTS (SELECT 1 FROM administrators p WHERE p.email = delivery_attempts.requested_by);
UPDATE redeliveries SET requested_by = 'person:' || (SELECT p.id FROM administrators p WHERE p.email = redeliveries.requested_by)
  WHERE requested_by <> '' AND EXISTS (SELECT 1 FROM administrators p WHERE p.email = redeliveries.requested_by);

-- Entries of the log and ids of activities are kept for a while only.
CREATE INDEX activities_received ON activities (received_at);

-- +goose Down
DROP INDEX activities_received;
