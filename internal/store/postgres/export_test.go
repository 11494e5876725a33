package postgres

import (
	"net"
	"testing"
)

// Address returns the address that the engine was opened with.
func (e *Engine) Address() string { return e.pool.Config().ConnString() }

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
