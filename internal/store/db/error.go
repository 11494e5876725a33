package db

import "errors"

// What engines turn their driver's error codes into.
var (
	// ErrUnique is a violated unique constraint.
	ErrUnique = errors.New("unique constraint")
	// ErrReference is a violated foreign key.
	ErrReference = errors.New("foreign key constraint")
	// ErrRetry is a deadlock or a serialization failure.
	ErrRetry = errors.New("serialization failure")
	// ErrUnavailable is a database that can not be reached or is busy for too long.
	ErrUnavailable = errors.New("database unavailable")
)
