package db

import "time"

// Options configure an engine. The zero value stands for the defaults.
type Options struct {
	// Clock replaces the machine's clock on SQLite; tests step it. On PostgreSQL
	// tests replace the function database_clock of the schema.
	Clock func() time.Time
	// MaxConnections bounds the pool on PostgreSQL; 0 means the default.
	MaxConnections int
}
