package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The commands under "A first call" of the README work as they are written, on
// another port, and the answers begin as the comments say.
func TestReadmeFirstCall(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## A first call\n")
	_, section, _ = strings.Cut(section, "```sh\n")
	script, _, found := strings.Cut(section, "```\n")
	if !found {
		t.Fatal("the README has no commands under \"A first call\"")
	}
	address := freeAddress(t)
	dir := t.TempDir()
	if err := os.Symlink(binary, filepath.Join(dir, "coursebridge")); err != nil {
		t.Fatal(err)
	}
	build, commands, _ := strings.Cut(script, "\n")
	if !strings.HasPrefix(build, "go build -o coursebridge ./cmd/coursebridge") {
		t.Errorf("the first command is %q, want the build", build)
	}
	commands = strings.ReplaceAll(commands, "127.0.0.1:8080", address)
	shell := exec.CommandContext(t.Context(), "bash", "-euc", "trap 'kill $!; wait' EXIT\n"+commands)
	shell.Dir = dir
	shell.Env = append(os.Environ(), "COURSEBRIDGE_LISTEN="+address, "COURSEBRIDGE_DATABASE=sqlite://coursebridge.db")
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Errorf("the commands ended with %v", err)
	}
	answers := 0
	for line := range strings.Lines(commands) {
		answer, isAnswer := strings.CutPrefix(strings.TrimSpace(line), "# {")
		if !isAnswer {
			continue
		}
		answers++
		if answer = "{" + strings.TrimSuffix(answer, "…"); !strings.Contains(string(out), answer) {
			t.Errorf("no answer has %s", answer)
		}
	}
	if answers != 2 || t.Failed() {
		t.Errorf("%d answers are compared, want 2; the commands printed\n%s", answers, out)
	}
}
