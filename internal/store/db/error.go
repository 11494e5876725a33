package db

import "errors"

// The errors that engines map their driver's error codes to.
var (
	// ErrUnique is a violated unique constraint.
	ErrUnique = errors.New("unique constraint")
	// ErrReference is a violated foreign key.
	ErrReference = errors.New("foreign key constraint")
	// ErrRetry is a deadlock or a serialization failure.
	ErrRetry = errors.New("serialization failure")
	// ErrLocked is a lock that another transaction held for longer than the
	// statement was allowed to wait.
	ErrLocked = errors.New("locked by another transaction")
	// ErrUnavailable is a database that cannot be reached or is busy for too long.
	ErrUnavailable = errors.New("database unavailable")
	// ErrNoSchema is a database that was never migrated.
	ErrNoSchema = errors.New("the database has no schema")
)
