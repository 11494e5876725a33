// Package security attacks the whole program as outsiders and tenants would: it calls
// every operation with the identifiers of another company, looks for secrets in
// everything the program writes, and floods it. Tests of failing hardware belong to
// test/faults.
package security

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// binary is the path of the program, which is built once for all tests.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "coursebridge-security-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "coursebridge")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", binary, "../../cmd/coursebridge")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the program:", err)
		return 1
	}
	return m.Run()
}

// eachEngine runs fn once per engine, on a database of its own.
func eachEngine(t *testing.T, fn func(t *testing.T, database string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, storetest.SQLite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		fn(t, storetest.Postgres(t))
	})
}
