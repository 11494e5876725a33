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
	// ErrUnavailable is a database that cannot be reached or is busy for too long.
	ErrUnavailable = errors.New("database unavailable")
)
