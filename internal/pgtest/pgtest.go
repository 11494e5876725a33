// Package pgtest creates an empty PostgreSQL database for each test, on the server
// that COURSEBRIDGE_TEST_POSTGRES names. It knows nothing of our schema and starts
// no server: the test runner does that. Only tests may import it.
package pgtest

import (
	"errors"
	"os"
	"testing"
)

// The test runner sets both variables: where the server is, and that a test fails
// instead of being skipped when there is none.
const (
	envServer = "COURSEBRIDGE_TEST_POSTGRES"
	envFull   = "COURSEBRIDGE_TEST_FULL"
)

// URL returns the address of a new, empty database that is dropped when the test
// ends. Without a server it reports the test as skipped, never as passed, and in a
// full run (make test) as failed. It must be called by the test's own goroutine.
func URL(tb testing.TB) string {
	tb.Helper()
	return database(tb, "template1")
}

// URLFromTemplate is like URL, but the database is a copy of one that prepare has
// filled. Prepare runs once for each key in a process; a copy takes a fraction of
// the time that the migrations take.
func URLFromTemplate(tb testing.TB, key string, prepare func(url string) error) string {
	tb.Helper()
	needServer(tb)
	s, err := shared()
	if err != nil {
		tb.Fatal(err)
	}
	name, err := s.template(key, prepare)
	if err != nil {
		tb.Fatal(err)
	}
	return database(tb, name)
}

func database(tb testing.TB, template string) string {
	tb.Helper()
	needServer(tb)
	s, err := shared()
	if err != nil {
		tb.Fatal(err)
	}
	name, err := s.create(template)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.drop(name); err != nil {
			tb.Error(err)
		}
	})
	return s.url(name)
}

// needServer ends the test if there is no server. This is the one place where a
// test may be skipped: a suite for two engines is useful with one of them.
func needServer(tb testing.TB) {
	tb.Helper()
	skip, err := decide(os.Getenv(envServer), os.Getenv(envFull))
	if err != nil {
		tb.Fatal(err)
	}
	if skip {
		tb.Skip("not run: there is no PostgreSQL server; use make test, or eval \"$(make pg)\" first")
	}
}

func decide(server, full string) (skip bool, err error) {
	if server == "" && full == "1" {
		return false, errors.New("a full test run needs PostgreSQL, and " + envServer + " is not set: use make test")
	}
	return server == "", nil
}
