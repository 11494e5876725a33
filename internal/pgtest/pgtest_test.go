package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server, full string
		skip, fail   bool
	}{
		"a server":                {server: "postgres://h/"},
		"a server, full run":      {server: "postgres://h/", full: "1"},
		"no server":               {skip: true},
		"no server, but full run": {full: "1", fail: true},
	} {
		skip, err := decide(c.server, c.full)
		if skip != c.skip || (err != nil) != c.fail {
			t.Errorf("%s: decide returned %v, %v", name, skip, err)
		}
	}
}

func TestEachURLIsAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	for _, url := range []string{URL(t), URL(t)} {
		if err := execSQL(t, url, "CREATE TABLE person (name text)"); err != nil {
			t.Error(err)
		}
	}
}

func TestCleanupDropsEvenWhileConnected(t *testing.T) {
	t.Parallel()
	needServer(t)
	outer := t
	var address string
	t.Run("inner", func(t *testing.T) {
		address = URL(t)
		conn, err := pgx.Connect(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		outer.Cleanup(func() { _ = conn.Close(context.Background()) })
	})
	wantGone(t, address)
}

func TestTemplateIsPreparedOnceAndCopied(t *testing.T) {
	t.Parallel()
	var prepared atomic.Int32
	prepare := func(url string) error {
		prepared.Add(1)
		return execSQL(t, url, "CREATE TABLE person (name text PRIMARY KEY); INSERT INTO person VALUES ('Ann')")
	}
	needServer(t) // goroutines can't skip
	const copies = 4
	var all sync.WaitGroup
	key := rand.Text()
	for range copies {
		all.Go(func() {
			url := URLFromTemplate(t, key, prepare)
			// One copy that saw another's rows would hold this key already.
			if err := execSQL(t, url, "INSERT INTO person VALUES ('Bob')"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := prepared.Load(); n != 1 {
		t.Errorf("the template was prepared %d times, want once", n)
	}
}

func TestTemplateOutlivesAForgottenConnection(t *testing.T) {
	t.Parallel()
	_ = URLFromTemplate(t, rand.Text(), func(url string) error {
		return connect(t, url).Ping(t.Context())
	})
}

func TestTemplateThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	needServer(t)
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	key := rand.Text()
	cause := errors.New("no such column")
	for range 2 {
		if _, err := s.template(key, func(string) error { return cause }); !errors.Is(err, cause) {
			t.Errorf("error %v does not wrap the cause", err)
		}
	}
}

func TestSweepLeavesTheLivingAlone(t *testing.T) {
	t.Parallel()
	mine := URL(t)
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	gone, err := open(s.address.String())
	if err != nil {
		t.Fatal(err)
	}
	left, err := gone.create("template1")
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	// PostgreSQL frees the lock of a closed connection a moment later: wait for it.
	conn := connect(t, s.url("postgres"))
	for _, call := range []string{"pg_advisory_lock", "pg_advisory_unlock"} {
		if _, err := conn.Exec(t.Context(), "SELECT "+call+"($1, $2)", lockSpace, int32(gone.owner)); err != nil {
			t.Fatal(err)
		}
	}
	next, err := open(s.address.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = next.conn.Close(context.Background()) })
	wantGone(t, s.url(left))
	if err := execSQL(t, mine, "SELECT 1"); err != nil {
		t.Error("the database of a living process:", err)
	}
}

func wantGone(t *testing.T, url string) {
	t.Helper()
	var pgErr *pgconn.PgError
	if err := execSQL(t, url, "SELECT 1"); !errors.As(err, &pgErr) || pgErr.Code != "3D000" {
		t.Errorf("want a database that does not exist, got %v", err)
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func execSQL(t *testing.T, url, sql string) error {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(t.Context(), sql)
	return errors.Join(err, conn.Close(t.Context()))
}

func BenchmarkCreateAndDrop(b *testing.B) {
	needServer(b)
	s, err := shared()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		name, err := s.create("template1")
		if err := errors.Join(err, s.drop(name)); err != nil {
			b.Fatal(err)
		}
	}
}
