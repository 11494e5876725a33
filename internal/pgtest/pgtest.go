// Package pgtest gives each test an empty PostgreSQL database of its own, on the
// server that COURSEBRIDGE_TEST_POSTGRES names. It knows nothing of our schema
// and starts no server: the test runner does that. For tests only.
package pgtest

import (
	"errors"
	"os"
	"testing"
)

// The runner sets both: where the server is, and that a test must fail rather
// than make do without it.
const (
	envServer = "COURSEBRIDGE_TEST_POSTGRES"
	envFull   = "COURSEBRIDGE_TEST_FULL"
)

// Available tells whether there is a server to test on.
func Available() bool { return os.Getenv(envServer) != "" }

// URL returns the address of a new, empty database that is dropped when the
// test ends. Without a server it returns "" (test on SQLite alone then), or
// fails the test where the run is meant to be a full one.
func URL(tb testing.TB) string {
	tb.Helper()
	return database(tb, "template1")
}

// URLFromTemplate is URL, except that the database starts as a copy of one that
// prepare has filled. Prepare runs once per process and key; a copy takes a
// fraction of what migrating anew would.
func URLFromTemplate(tb testing.TB, key string, prepare func(url string) error) string {
	tb.Helper()
	if !wanted(tb) {
		return ""
	}
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
	if !wanted(tb) {
		return ""
	}
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

func wanted(tb testing.TB) bool {
	tb.Helper()
	ok, err := decide(os.Getenv(envServer), os.Getenv(envFull))
	if err != nil {
		tb.Fatal(err)
	}
	return ok
}

func decide(server, full string) (bool, error) {
	if server == "" && full == "1" {
		return false, errors.New("a full test run needs PostgreSQL, and " + envServer + " is not set: use make test")
	}
	return server != "", nil
}
