// Package db is the small surface that the SQL in package store needs of a
// database engine: transactions that carry one timestamp, statements, batches
// and the few values in which the engines differ. It holds no SQL of a noun.
package db

import (
	"context"
	"time"
)

// Rows is a result being read. Close may be called at any time; Err tells why
// Next ended.
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

// Tx is a transaction. It begins with its first statement, in the same round
// trip, and carries one timestamp by the database's clock.
type Tx interface {
	Conn
	// Now is the transaction's timestamp. It may be asked for once a statement
	// has run.
	Now() time.Time
	// IDs queues the reservation of n ids of a sequence; they are in *into, in
	// ascending order, once the batch was sent.
	IDs(b *Batch, sequence string, n int, into *[]int64)
	// SendAndCommit queues statements that run together with the commit. Nothing may
	// depend on how many rows they touch.
	SendAndCommit(b *Batch)
}

// Engine is an open database.
type Engine interface {
	Dialect
	// Write runs fn in a transaction and commits it. What fails for want of
	// serialization is run again from the start, so fn must have no effect but on
	// the database and must set, not add to, what it captures.
	Write(ctx context.Context, fn func(Tx) error) error
	// Read runs fn on one connection, each statement for itself.
	Read(ctx context.Context, fn func(Conn) error) error
	// Snapshot runs fn in a read-only transaction that sees one state. It may
	// take long; its statements stop when ctx ends.
	Snapshot(ctx context.Context, fn func(Conn) error) error
	// Now is the database's clock, without asking it.
	Now() time.Time
	// Watermark is an instant such that every change not yet visible to a
	// statement that begins after the call is stamped at or after it.
	Watermark(ctx context.Context) (time.Time, error)
	// Erased is told that personal data was removed, so that the engine can clear
	// what its files still hold of it.
	Erased(ctx context.Context) error
	// AnalyzeGrownTables does what keeps the engine quick; it is to be called every few seconds.
	AnalyzeGrownTables(ctx context.Context) error
	// Publish tells every process that listens on the topic, this one too.
	Publish(ctx context.Context, topic string, keys []string) error
	// Listen calls fn for what is published until ctx ends. fn is called with nil
	// when something may have been missed.
	Listen(ctx context.Context, topic string, fn func(keys []string)) error
	// Generation changes with every commit to the database, whoever makes it. ok is
	// false where the engine can't tell without asking.
	Generation() (value uint64, ok bool)
	Migrate(ctx context.Context) error
	// Migrated says whether the schema is the one this program needs.
	Migrated(ctx context.Context) error
	Ping(ctx context.Context) error
	Backup(ctx context.Context, path string) error
	Stats() Stats
	Close() error
}

// Stats describes the connections of an engine.
type Stats struct {
	Open, InUse, Idle int
	WaitCount         int64
	WaitDuration      time.Duration
}

// Dialect holds the values in which the engines' SQL differs.
type Dialect interface {
	// Name is sqlite or postgres.
	Name() string
	// ValuesTable gives a table expression over columns of values, and its arguments,
	// whose placeholders begin at $first. Every column has the same length.
	ValuesTable(first int, cols ...Column) (sql string, args []any)
	// Join and LeftJoin are clauses that join a table, looking its rows up by an
	// index for each row before it. An engine that believes the table small would
	// else read it whole, and go on so with a plan it keeps while the table grows.
	Join(table, alias, on string) string
	LeftJoin(table, alias, on string) string
	// ForUpdate and ForShare are the suffixes that lock the rows of a table alias;
	// empty where there is one writer.
	ForUpdate(alias string) string
	ForShare(alias string) string
	// SkipLocked follows ForUpdate and passes over rows that others hold.
	SkipLocked() string
	// NotifyOnCommit is a statement that tells the listeners of a topic once the
	// transaction commits; empty where Generation makes it needless.
	NotifyOnCommit(topic string) string
}

// Column is one named column of a Rows expression.
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

// Item is one queued statement; Each is called per row, Done with the number of
// rows it touched.
type Item struct {
	SQL  string
	Args []any
	Each func(Rows) error
	Done func(n int64) error
}

// Exec queues a statement whose rows are not read.
func (b *Batch) Exec(sql string, args ...any) { b.Items = append(b.Items, Item{SQL: sql, Args: args}) }

// One queues a statement that must touch exactly one row, or gives err.
func (b *Batch) One(err error, sql string, args ...any) {
	b.Items = append(b.Items, Item{SQL: sql, Args: args, Done: func(n int64) error {
		if n != 1 {
			return err
		}
		return nil
	}})
}

// Query queues a statement and reads each of its rows.
func (b *Batch) Query(each func(Rows) error, sql string, args ...any) {
	b.Items = append(b.Items, Item{SQL: sql, Args: args, Each: each})
}

// Empty says whether nothing is queued.
func (b *Batch) Empty() bool { return b == nil || len(b.Items) == 0 }
