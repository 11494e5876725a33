package postgres

import (
	"net"
	"testing"
	"time"
)

// Address returns the address that the engine was opened with.
func (e *Engine) Address() string { return e.pool.Config().ConnString() }

// PendingQuery returns the statement by which DropPartitions looks for deliveries that are
// to be sent and whose attempts are in the partition from one instant to another.
func PendingQuery(from, to time.Time) (sql string, args []any) {
	return pendingSQL, partition{from: from.UnixMilli(), to: to.UnixMilli()}.pendingArgs()
}

// NetConn returns the network connection of one of the pool, which stays in use until
// the test ends.
func (e *Engine) NetConn(t *testing.T) net.Conn {
	t.Helper()
	conn, err := e.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Release)
	return conn.Conn().PgConn().Conn()
}
