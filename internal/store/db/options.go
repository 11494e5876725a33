package db

import (
	"cmp"
	"time"
)

// Options configure an engine. Zero fields stand for the defaults.
type Options struct {
	// MaxConnections bounds the pool on PostgreSQL. Notifications take one
	// connection more. SQLite has one writer and a few readers.
	MaxConnections int
	// ConnectionWait is how long a call waits for a free connection before it
	// fails with ErrUnavailable.
	ConnectionWait time.Duration
	// LockWait is how long a transaction waits for a lock before it fails with
	// ErrLocked.
	LockWait time.Duration
	// IdleTransaction is how long the database keeps a transaction of a client
	// that sends nothing, because it is gone or stopped.
	IdleTransaction time.Duration
	// TransactionPooler means that a pooler between this process and PostgreSQL may
	// serve each transaction from another session, as PgBouncer in transaction mode.
	TransactionPooler bool
	// DirectAddress is PostgreSQL's own address behind the pooler, for what needs a
	// session. It may be empty.
	DirectAddress string
	// ReadAddress is the address of a streaming standby that may serve reads. It may be
	// empty.
	ReadAddress string
	// Traced adds spans to calls whose context belongs to a trace.
	Traced bool
	// Clock replaces the machine's clock on SQLite; tests step it. On PostgreSQL
	// tests replace the function database_clock of the schema.
	Clock func() time.Time
}

// WithDefaults returns the options with defaults in place of zero fields.
func (o Options) WithDefaults() Options {
	o.MaxConnections = cmp.Or(o.MaxConnections, 10)
	o.ConnectionWait = cmp.Or(o.ConnectionWait, 5*time.Second)
	o.LockWait = cmp.Or(o.LockWait, 5*time.Second)
	o.IdleTransaction = cmp.Or(o.IdleTransaction, 15*time.Second)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}
