// Package load measures the built program against the figures it has to reach.
// Ratios compare it, in interleaved rounds of one run, with the least that a
// program could do for the same effect, so that they hold on any machine. It
// asserts nothing: make bench prints a table that says what is reached. What is
// right or wrong is tested elsewhere.
package load

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

func TestMain(m *testing.M) {
	if kind := os.Getenv(bareEnv); kind != "" {
		os.Exit(serveBare(kind))
	}
	code := m.Run()
	figures.print(os.Stdout)
	if workshop != "" {
		os.RemoveAll(workshop)
	}
	os.Exit(code)
}

// workshop is where the binary is, once it is built.
var workshop string

// built gives the path of the program, built as it is shipped.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "coursebridge-load-")
	if err != nil {
		return "", err
	}
	workshop = dir
	path := filepath.Join(dir, "coursebridge")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X main.version=load", "-o", path, "../../cmd/coursebridge")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w: %s", err, out)
	}
	return path, nil
})

func binary(b *testing.B) string {
	b.Helper()
	path, err := built()
	if err != nil {
		b.Fatal(err)
	}
	return path
}
