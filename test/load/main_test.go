// Package load measures the built program. Ratios compare it, in interleaved rounds
// of one run, with a baseline: the simplest program with the same effect. So they
// hold on any machine. make bench prints a table of figures and targets; nothing
// fails if a target is missed. Tests of correctness belong elsewhere.
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
	if kind := os.Getenv(baselineEnv); kind != "" {
		os.Exit(serveBaseline(kind))
	}
	code := m.Run()
	results.print(os.Stdout)
	if err := results.save(); err != nil {
		fmt.Fprintln(os.Stderr, "save the figures:", err)
		code = 1
	}
	if workshop != "" {
		os.RemoveAll(workshop)
	}
	os.Exit(code)
}

// workshop is the directory of the binary, once it is built.
var workshop string

// built returns the path of the program, built like a release.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "coursebridge-load-")
	if err != nil {
		return "", err
	}
	workshop = dir
	path := filepath.Join(dir, "coursebridge")
	return path, build("../..", path)
})

// build builds the program of a checkout like a release.
func build(checkout, path string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version=load", "-o", path, "./cmd/coursebridge")
	cmd.Dir, cmd.Env = checkout, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program of %s: %w: %s", checkout, err, out)
	}
	return nil
}

func binary(b *testing.B) string {
	b.Helper()
	path, err := built()
	if err != nil {
		b.Fatal(err)
	}
	return path
}
