package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// ErrNeedsSession is returned for what cannot be done through a pooler. The programs
// of PostgreSQL change settings of their session, and the pooler would pass that session
// on to a server.
var ErrNeedsSession = errors.New(
	"pg_dump and pg_restore cannot work through a pooler in transaction mode: name PostgreSQL's own address with --database-direct")

// Backup runs pg_dump, which must be installed.
func (e *Engine) Backup(ctx context.Context, path string) error {
	if !e.hasSessions() {
		return ErrNeedsSession
	}
	address := e.pool.Config().ConnString()
	if e.options.DirectAddress != "" {
		address = e.options.DirectAddress
	}
	return runTool(ctx, "pg_dump", address, "--format=custom", "--file="+path)
}

// Restore runs pg_restore into an empty database. If it fails, the database
// stays empty.
func Restore(ctx context.Context, address, path string) error {
	return runTool(ctx, "pg_restore", address, "--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction", path)
}

// runTool runs a program of the PostgreSQL client. The password is in its
// environment, never in its arguments, which other users can read.
func runTool(ctx context.Context, name, address string, args ...string) error {
	bin, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("%s is not installed on this machine: install the PostgreSQL client, or work on the database server", name)
	}
	target, password, err := toolAddress(address)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, bin, append([]string{"--dbname=" + target}, args...)...)
	cmd.Env = os.Environ()
	if password != "" {
		cmd.Env = append(cmd.Env, "PGPASSWORD="+password)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// toolParameters are the parameters of an address that PostgreSQL's own programs
// know. Those of the pool and of pgx would make them refuse it.
var toolParameters = []string{
	"application_name", "channel_binding", "client_encoding", "connect_timeout", "gssencmode", "host", "hostaddr",
	"keepalives", "keepalives_count", "keepalives_idle", "keepalives_interval", "krbsrvname", "load_balance_hosts", "options",
	"passfile", "port", "require_auth", "service", "sslcert", "sslcrl", "sslkey", "sslmode", "sslnegotiation", "sslrootcert",
	"sslsni", "ssl_max_protocol_version", "ssl_min_protocol_version", "target_session_attrs", "tcp_user_timeout",
}

// toolAddress returns an address for PostgreSQL's own programs, and the password
// apart from it.
func toolAddress(address string) (target, password string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", "", errors.New("the database address is not a valid URL; write it as postgres://user:password@host/name")
	}
	if u.User != nil {
		password, _ = u.User.Password()
		u.User = url.User(u.User.Username())
	}
	q := u.Query()
	if q.Get("password") != "" {
		password = q.Get("password")
	}
	for name := range q {
		if !slices.Contains(toolParameters, name) {
			q.Del(name)
		}
	}
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20") // libpq takes + for itself
	return u.String(), password, nil
}

// Compact has nothing to do: PostgreSQL's autovacuum makes the space of deleted
// rows free for new ones.
func (e *Engine) Compact(context.Context) error { return nil }

// Size returns the size of the database.
func (e *Engine) Size(ctx context.Context) (int64, error) {
	var n int64
	err := e.pool.QueryRow(ctx, "SELECT pg_database_size(current_database())").Scan(&n)
	return n, mapError(err)
}
