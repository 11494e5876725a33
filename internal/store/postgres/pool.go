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
	cfg.AfterConnect = prepareConnection
	return cfg, nil
}

// deadClientSQL lets the server notice within half a minute that the client at the
// other end of a connection is gone, also while a statement runs. The settings are
// not sent at the start of the connection, because a pooler refuses unknown ones,
// and older servers lack some of them.
const deadClientSQL = `
	SELECT set_config(s.name, v.value, false) FROM pg_settings s JOIN (VALUES
		('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3'),
		('tcp_user_timeout', '30000'), ('client_connection_check_interval', '5000')) v (name, value) ON v.name = s.name`

func prepareConnection(ctx context.Context, conn *pgx.Conn) error {
	conn.TypeMap().RegisterType(&pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
	_, err := conn.Exec(ctx, deadClientSQL)
	return err
}
