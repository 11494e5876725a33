package postgres

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// poolConfig returns the configuration of the pool. The address may name the most
// connections itself, as pgx allows.
func poolConfig(address string, options db.Options) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("read the database address: %w", err)
	}
	if !strings.Contains(address, "pool_max_conns=") {
		cfg.MaxConns = int32(min(options.MaxConnections, 10_000))
	}
	cfg.ConnConfig.RuntimeParams["application_name"] = "coursebridge"
	cfg.ConnConfig.RuntimeParams["timezone"] = "UTC"
	cfg.ConnConfig.StatementCacheCapacity = 512
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	dialer := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3}}
	cfg.ConnConfig.DialFunc = dialer.DialContext
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		registerTypes(conn)
		return setBounds(ctx, conn, options)
	}
	if options.TransactionPooler {
		// The session of the next statement may not know a prepared statement, and a
		// setting of the session would stay with somebody else.
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		cfg.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
			registerTypes(conn)
			return nil
		}
	}
	return cfg, nil
}

// sessionConfig returns the configuration of a connection that is not in the pool
// and needs a session of its own.
func (e *Engine) sessionConfig() (*pgx.ConnConfig, error) {
	address := e.pool.Config().ConnString()
	if e.options.TransactionPooler && e.options.DirectAddress != "" {
		address = e.options.DirectAddress
	}
	cfg, err := poolConfig(address, e.options)
	if err != nil {
		return nil, err
	}
	if e.options.DirectAddress != "" {
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	}
	return cfg.ConnConfig, nil
}

// hasSessions reports whether sessionConfig leads to a session of its own.
func (e *Engine) hasSessions() bool {
	return !e.options.TransactionPooler || e.options.DirectAddress != ""
}

// boundsSQL sets what holds for every statement of a connection. It bounds how long
// a statement may run or wait for a lock, and how long a transaction may be idle. It
// also lets the server notice within half a minute that the client at the other end
// is gone, even while a statement runs. Statements are not compiled: that took 30 ms
// and more of pages that were read in a few. Nor are they spread over processes: to
// start those took 6 ms, twice on each page of reports, and what is counted in the
// background must leave other processors to the pages. The settings are not sent at the
// start of the connection, because a pooler refuses unknown ones, and older servers
// lack some.
const boundsSQL = `
	SELECT set_config(s.name, v.value, false) FROM pg_settings s JOIN (VALUES
		('statement_timeout', $1), ('lock_timeout', $2), ('idle_in_transaction_session_timeout', $3),
		('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3'),
		('tcp_user_timeout', '30000'), ('client_connection_check_interval', '5000'), ('jit', 'off'),
		('max_parallel_workers_per_gather', '0')) v (name, value) ON v.name = s.name`

func setBounds(ctx context.Context, conn *pgx.Conn, o db.Options) error {
	_, err := conn.Exec(ctx, boundsSQL, millis(connectionTimeout), millis(o.LockWait), millis(o.IdleTransaction))
	return err
}

func registerTypes(conn *pgx.Conn) {
	conn.TypeMap().RegisterType(&pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
}
