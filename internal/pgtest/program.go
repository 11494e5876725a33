package pgtest

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of another program. A test that needs it is skipped without
// it, and fails in a full run, which installs it: see scripts/packages.sh.
func Program(tb testing.TB, name string) string {
	tb.Helper()
	for _, candidate := range []string{name, "/usr/sbin/" + name} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path
		}
	}
	if os.Getenv(envFull) == "1" {
		tb.Fatalf("a full test run needs %s: use make test", name)
	}
	tb.Skipf("not run: %s is not installed; use make test", name)
	return ""
}

// NotAllowed reports a test as skipped, never as passed, because this machine does
// not allow what the test needs, such as a limit of the kernel.
func NotAllowed(tb testing.TB, what string, err error) {
	tb.Helper()
	tb.Skipf("not run: this machine does not allow %s: %v", what, err)
}
