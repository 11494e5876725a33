// Package faults tests the built program while things fail around it: processes
// are killed or paused, the database goes away, the disk is full, receivers hang.
// Tests of a healthy program belong elsewhere.
package faults

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// binary is the path of the program, which is built once for all tests.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "coursebridge-faults-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "coursebridge")
	build := exec.Command("go", "build", "-ldflags", "-s -w -X main.version=faults", "-o", binary, "../../cmd/coursebridge")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the program:", err)
		return 1
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // they mostly wait
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// eachEngine runs fn once per engine, on an empty database without a schema.
func eachEngine(t *testing.T, fn func(t *testing.T, database string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, sqliteDatabase(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		fn(t, postgresDatabase(t))
	})
}

func sqliteDatabase(t *testing.T) string {
	t.Helper()
	return "sqlite://" + filepath.Join(t.TempDir(), "faults.db")
}

// postgresDatabase returns the address of a new PostgreSQL database. Without a
// server the test is reported as skipped, and as failed by make test.
func postgresDatabase(t *testing.T) string {
	t.Helper()
	return pgtest.URL(t)
}
