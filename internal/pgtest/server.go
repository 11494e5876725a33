package pgtest

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// prefix begins the name of every database made here: prefix + owner (8 hex digits) + "_" + number.
const prefix = "cb_test_"

// lockSpace separates our advisory locks from those of the code under test.
const lockSpace = 0x6362

// timeout is generous because several test processes share the server.
const timeout = 60 * time.Second

// server is the shared server as this process uses it. One connection creates and
// drops all databases. While it is open it holds the advisory lock of owner, by
// which other processes know that this one's databases are in use.
type server struct {
	address *url.URL
	owner   uint32

	mu        sync.Mutex
	conn      *pgx.Conn
	made      int
	templates map[string]*template
}

type template struct {
	once sync.Once
	name string
	err  error
}

var shared = sync.OnceValues(func() (*server, error) { return open(os.Getenv(envServer)) })

func open(address string) (*server, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", envServer, err)
	}
	var id [4]byte
	_, _ = rand.Read(id[:])
	s := &server{address: u, owner: binary.BigEndian.Uint32(id[:]), templates: map[string]*template{}}
	return s, s.do(s.sweep)
}

// url returns the address of one database.
func (s *server) url(name string) string {
	u := *s.address
	u.Path = "/" + name
	return u.String()
}

// do runs work on the connection, which it opens again if it broke.
func (s *server) do(work func(ctx context.Context, conn *pgx.Conn) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if s.conn == nil || s.conn.IsClosed() {
		conn, err := pgx.Connect(ctx, s.address.String())
		if err != nil {
			return fmt.Errorf("connect to the test server: %w", err)
		}
		if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1, $2)", lockSpace, int32(s.owner)); err != nil {
			return errors.Join(fmt.Errorf("lock as owner: %w", err), conn.Close(ctx))
		}
		s.conn = conn
	}
	return work(ctx, s.conn)
}

func (s *server) create(template string) (string, error) {
	var name string
	err := s.do(func(ctx context.Context, conn *pgx.Conn) error {
		s.made++
		name = fmt.Sprintf("%s%08x_%d", prefix, s.owner, s.made)
		_, err := conn.Exec(ctx, "CREATE DATABASE "+quote(name)+" TEMPLATE "+quote(template)+copyStrategy(conn))
		return err
	})
	if err != nil {
		return "", fmt.Errorf("create test database: %w", err)
	}
	return name, nil
}

// copyStrategy makes CREATE DATABASE copy the files of the template. By default, and since
// PostgreSQL 15, it copies page by page through the log, which costs three times the
// processor time for a small template, and more when the database is dropped.
func copyStrategy(conn *pgx.Conn) string {
	version, _, _ := strings.Cut(conn.PgConn().ParameterStatus("server_version"), ".")
	if major, err := strconv.Atoi(version); err != nil || major < 15 {
		return "" // it has no other way
	}
	return " STRATEGY file_copy"
}

func (s *server) drop(name string) error {
	err := s.do(func(ctx context.Context, conn *pgx.Conn) error { return drop(ctx, conn, name) })
	if err != nil {
		return fmt.Errorf("drop test database: %w", err)
	}
	return nil
}

// template returns the name of the database that prepare has filled for key.
func (s *server) template(key string, prepare func(url string) error) (string, error) {
	s.mu.Lock()
	t := s.templates[key]
	if t == nil {
		t = &template{}
		s.templates[key] = t
	}
	s.mu.Unlock()
	t.once.Do(func() {
		if t.name, t.err = s.create("template1"); t.err != nil {
			return
		}
		if t.err = prepare(s.url(t.name)); t.err != nil {
			t.err = errors.Join(fmt.Errorf("prepare template %q: %w", key, t.err), s.drop(t.name))
			return
		}
		t.err = s.seal(t.name)
	})
	return t.name, t.err
}

// seal closes a template to connections: PostgreSQL does not copy a database that
// someone is connected to.
func (s *server) seal(name string) error {
	err := s.do(func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "ALTER DATABASE "+quote(name)+" ALLOW_CONNECTIONS false"); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1`, name)
		return err
	})
	if err != nil {
		return fmt.Errorf("seal template: %w", err)
	}
	return nil
}

// sweep drops the databases that ended processes have left behind: templates,
// because no process knows when its last test ends, and databases of tests that
// were killed.
func (s *server) sweep(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, "SELECT datname FROM pg_database WHERE starts_with(datname, $1)", prefix)
	if err != nil {
		return fmt.Errorf("list test databases: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list test databases: %w", err)
	}
	for _, name := range names {
		var owner uint32
		if _, err := fmt.Sscanf(strings.TrimPrefix(name, prefix), "%08x_", &owner); err != nil {
			continue
		}
		if err := sweepOne(ctx, conn, name, owner); err != nil {
			return fmt.Errorf("sweep %s: %w", name, err)
		}
	}
	return nil
}

func sweepOne(ctx context.Context, conn *pgx.Conn, name string, owner uint32) error {
	var gone bool
	err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1, $2)", lockSpace, int32(owner)).Scan(&gone)
	if err != nil || !gone {
		return err
	}
	err = drop(ctx, conn, name)
	_, unlockErr := conn.Exec(ctx, "SELECT pg_advisory_unlock($1, $2)", lockSpace, int32(owner))
	return errors.Join(err, unlockErr)
}

func drop(ctx context.Context, conn *pgx.Conn, name string) error {
	_, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+quote(name)+" WITH (FORCE)")
	return err
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
