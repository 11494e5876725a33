-- +goose Up
-- The clock that stamps changes. Tests replace the function to step the clock.
CREATE FUNCTION database_clock() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT clock_timestamp()';

-- The latest stamp, in milliseconds since 1970. It is a sequence because the value
-- of a sequence is shared at once and kept for good, without a row lock.
CREATE SEQUENCE change_clock;
SELECT setval('change_clock', floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);

-- +goose Down
DROP SEQUENCE change_clock;
DROP FUNCTION database_clock();
