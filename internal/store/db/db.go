// Package db is the small surface that the SQL in package store needs of a
// database engine: transactions that carry one timestamp, statements, batches
// and the few values in which the engines differ. It holds no SQL of a noun.
package db

import (
	"context"
	"time"
)

// Rows is a result being read. Close may be called at any time; Err returns why
// Next returned false.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close()
}

// Conn runs statements. Placeholders are $1, $2, …, bound by number.
type Conn interface {
	Exec(ctx context.Context, sql string, args ...any) (int64, error)
	Query(ctx context.Context, sql string, args ...any) (Rows, error)
	// Send runs the queued statements in order, in one round trip where the
	// engine can.
	Send(ctx context.Context, b *Batch) error
}

// Tx is a transaction. It begins in the round trip of its first batch (Exec and
// Query are batches of one statement) and carries one timestamp, its stamp.
//
// The stamp is read at the end of the first batch, so after the row locks that the
// batch takes. A transaction that waited for a lock is therefore stamped after the
// transaction that held it, and the stamps of one record never fall if every
// transaction that changes the record locks it in its first batch. One that locks
// it later calls Restamp in the batch that does.
type Tx interface {
	Conn
	// Now returns the transaction's stamp. It may be called once a batch was sent.
	Now() time.Time
	// Restamp queues a new reading of the stamp at this place of the batch. From
	// when the batch is sent, Now returns the new stamp, which is not before the
	// old one. It must come before anything is written with the old one.
	Restamp(b *Batch)
	// IDs queues the reservation of n ids of a sequence. Once the batch was sent,
	// *into holds them in ascending order.
	IDs(b *Batch, sequence string, n int, into *[]int64)
	// SendAndCommit queues statements that run together with the commit. Nothing may
	// depend on how many rows they touch.
	SendAndCommit(b *Batch)
}

// Engine is an open database.
type Engine interface {
	Dialect
	// Write runs fn in a transaction and commits it. It runs fn again from the
	// start after a conflict with another transaction, so fn must have no effect
	// outside the database and must set, not add to, what it captures.
	Write(ctx context.Context, fn func(Tx) error) error
	// Read runs fn on one connection, each statement for itself. If a statement fails on
	// a read replica, fn runs again on the primary: a batch passes rows to its callbacks
	// only after all of its statements succeeded there.
	Read(ctx context.Context, fn func(Conn) error) error
	// Snapshot runs fn in a read-only transaction that sees one state. It may
	// take long; its statements stop when ctx ends.
	Snapshot(ctx context.Context, fn func(Conn) error) error
	// Now returns the database's clock, the one that stamps changes too, without a
	// round trip. It does not follow a clock that steps back: see Clock.
	Now() time.Time
	// Watermark returns an instant such that every change not yet visible to a
	// statement that begins after the call is stamped at or after it.
	Watermark(ctx context.Context) (time.Time, error)
	// ScrubDeleted clears what the engine's files still hold of deleted rows, now or soon.
	// It is to be called after personal data was deleted.
	ScrubDeleted(ctx context.Context)
	// Claim makes this process a server on the database until Close. It fails if
	// the engine supports only one and another process is it.
	Claim() error
	// AnalyzeGrownTables refreshes the planner's statistics of tables that have
	// grown fast. It is to be called every few seconds.
	AnalyzeGrownTables(ctx context.Context) error
	// AddPartitionsAhead adds empty partitions to the table of attempts, each for the
	// deliveries of a time span. It does nothing where there are none.
	AddPartitionsAhead(ctx context.Context, span time.Duration) error
	// DropPartitions drops the partitions of attempts whose deliveries were made before
	// the instant. One with a delivery that is to be sent stays.
	DropPartitions(ctx context.Context, before time.Time) error
	// RowRetention returns the age at which rows of events are deleted one by one, so that
	// partitions are dropped before.
	RowRetention(retention time.Duration) time.Duration
	// Publish notifies every process that listens on the topic, this one included.
	Publish(ctx context.Context, topic string, keys []string) error
	// Listen calls fn with the keys of each notification until ctx ends. It calls
	// fn with nil when notifications may have been missed.
	Listen(ctx context.Context, topic string, fn func(keys []string)) error
	// Migrate brings the schema up to date. It leaves a newer schema alone and fails
	// if this program cannot run on it.
	Migrate(ctx context.Context) error
	// CheckSchema returns an error unless this program can run on the schema: it has
	// the program's version, or a newer one that allows older programs.
	CheckSchema(ctx context.Context) error
	Ping(ctx context.Context) error
	// Backup writes a consistent copy of the database into an empty file.
	Backup(ctx context.Context, path string) error
	// Compact returns the space of deleted rows to the file system where the engine
	// does not do so by itself, and removes their last traces from its files.
	Compact(ctx context.Context) error
	// Size returns the size of the database in bytes.
	Size(ctx context.Context) (int64, error)
	Stats() Stats
	Close() error
}

// Stats describes the connections of an engine.
type Stats struct {
	Max, Open, InUse, Idle int
	WaitCount              int64
	WaitDuration           time.Duration
	Replica                *ReplicaStats // nil without a read replica
}

// ReplicaStats describes a read replica.
type ReplicaStats struct {
	Reads     int64 // that it has served
	Fallbacks int64 // reads that could have used it and went to the primary
	// Problem is why reads go to the primary now; empty while the replica is used.
	Problem string
	// TakesReports reports whether long reads may use it: see hot_standby_feedback.
	TakesReports bool
}

// Dialect holds the values in which the engines' SQL differs.
type Dialect interface {
	// Name is sqlite or postgres.
	Name() string
	// ValuesTable returns a table expression over columns of values and its
	// arguments, whose placeholders begin at $first. All columns have the same
	// length.
	ValuesTable(first int, cols ...Column) (sql string, args []any)
	// In returns a condition that a column of the statement has one of the values,
	// in the placeholder $n, and its argument. It is answered by one index lookup
	// per value. A planner that believes the table to be small would instead compare
	// every row with every value if the values stood in a ValuesTable.
	In(column string, n int, values Column) (sql string, arg any)
	// Folded returns an expression for a column with the letters A to Z in lower
	// case, in the order of its bytes. Indexes for searches hold it.
	Folded(column string) string
	// Join and LeftJoin return clauses that join a table by one index lookup per
	// row of what precedes it. Without them a planner that believes the table to be
	// small scans it, and keeps that plan while the table grows.
	Join(table, alias, on string) string
	LeftJoin(table, alias, on string) string
	// KeepPlan returns a query after which the statements of the same batch use one
	// plan for all arguments; empty where every statement does. It is for statements
	// whose best plan does not depend on their arguments: planning takes longer than
	// running them.
	KeepPlan() string
	// EpochSeconds returns an expression for the whole seconds since 1970 of a column
	// that holds an instant.
	EpochSeconds(column string) string
	// CompanyLock returns an expression that locks a company's subscriptions until
	// the transaction ends, shared or not; empty where there is one writer. Those
	// who wait are served in turn, so that shared locks can't starve the other kind.
	CompanyLock(company string, shared bool) string
	// LockTimeout returns a statement that bounds how long the transaction waits
	// for each lock; empty where there is one writer. A lock that is not free in
	// time is an ErrLocked.
	LockTimeout(d time.Duration) string
	// ForUpdate and ForShare return the suffixes that lock the rows of a table
	// alias. They are empty on an engine with a single writer.
	ForUpdate(alias string) string
	ForShare(alias string) string
	// SkipLocked returns the suffix that follows ForUpdate to skip rows that other
	// transactions have locked.
	SkipLocked() string
	// CountTogether returns statements to run before and after many assignments of
	// a company are inserted, so that their trigger counts them together. The first takes the
	// company and the first and the last id of a range that no other row is in, the
	// second the company. Both are empty where triggers run once per statement.
	CountTogether() (before, after string)
}

// Column is one named column of a ValuesTable.
type Column struct {
	Name   string
	Type   Type
	Values any // []int64, []string, []bool, []time.Time, []*time.Time, []*int64, [][]byte
}

// Type is the SQL type of a column.
type Type int

// The types of columns.
const (
	Int Type = iota
	Text
	Bool
	Time
	Bytes
	UUID
)

// Batch is a queue of statements.
type Batch struct{ Items []Item }

// Item is one queued statement. Each is called once per row, Done with the
// number of affected rows.
type Item struct {
	SQL  string
	Args []any
	Each func(Rows) error
	Done func(n int64) error
}

// Exec queues a statement whose rows are not read.
func (b *Batch) Exec(sql string, args ...any) { b.Items = append(b.Items, Item{SQL: sql, Args: args}) }

// One queues a statement that must affect exactly one row; if it does not, the
// batch fails with err.
func (b *Batch) One(err error, sql string, args ...any) {
	b.Items = append(b.Items, Item{SQL: sql, Args: args, Done: func(n int64) error {
		if n != 1 {
			return err
		}
		return nil
	}})
}

// Query queues a statement and calls each for every row of its result.
func (b *Batch) Query(each func(Rows) error, sql string, args ...any) {
	b.Items = append(b.Items, Item{SQL: sql, Args: args, Each: each})
}

// Empty reports whether nothing is queued.
func (b *Batch) Empty() bool { return b == nil || len(b.Items) == 0 }
