// Package faults runs the program as it is shipped, a built binary in processes
// of its own, and takes away what it stands on: its life, its database, its port,
// its receivers. What a healthy program answers is tested elsewhere.
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

// binary is the program, built once for all tests.
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
	build := exec.Command("go", "build", "-ldflags", "-X main.version=faults", "-o", binary, "../../cmd/coursebridge")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the program:", err)
		return 1
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // they wait more than they work
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// each runs fn once per engine, on a database that nothing was done to yet.
func each(t *testing.T, fn func(t *testing.T, database string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, sqliteDatabase(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		if database := pgtest.URL(t); database != "" {
			fn(t, database)
		}
	})
}

func sqliteDatabase(t *testing.T) string {
	t.Helper()
	return "sqlite://" + filepath.Join(t.TempDir(), "faults.db")
}
