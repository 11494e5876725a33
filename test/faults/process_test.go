package faults

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// timeout bounds a single wait. It is long because other tests keep the machine
// busy.
const timeout = 30 * time.Second

// process is a running server.
type process struct {
	cmd    *exec.Cmd
	url    string
	log    *logBuffer
	exited chan struct{} // closed when the process has ended
	code   int           // valid once exited is closed
}

// serve starts a server on a free port and waits until it serves.
func serve(t *testing.T, database string, flags ...string) *process {
	t.Helper()
	p := launch(t, database, flags...)
	p.ready(t)
	return p
}

// launch starts a server without waiting until it is ready.
func launch(t *testing.T, database string, flags ...string) *process {
	t.Helper()
	return launchWith(t, nil, database, flags...)
}

// launchWith is launch with additional environment variables.
func launchWith(t *testing.T, env []string, database string, flags ...string) *process {
	t.Helper()
	return launchCommand(t, env, command(append(serveArguments(database), flags...)...))
}

// serveArguments are the arguments of every server in these tests.
func serveArguments(database string) []string {
	return []string{
		"serve", "--listen", "127.0.0.1:0", "--database", database, "--rate-limit", "0",
		"--webhook-allow-private", "--webhook-allow-http",
	}
}

// launchCommand starts a server by a command of its own.
func launchCommand(t *testing.T, env []string, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, log: newLogBuffer(), exited: make(chan struct{})}
	p.cmd.Stderr, p.cmd.Env = p.log, append(p.cmd.Env, env...)
	if err := p.cmd.Start(); err != nil {
		t.Fatal("start the program:", err)
	}
	go func() {
		_ = p.cmd.Wait() // the exit code is checked instead
		p.code = p.cmd.ProcessState.ExitCode()
		close(p.exited)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("log of %s:\n%s", p.url, tail(p.log.String(), 40))
		}
	})
	return p
}

// ready waits for the log line with the server's address.
func (p *process) ready(t *testing.T) {
	t.Helper()
	deadline := time.After(timeout)
	for {
		changed := p.log.changed()
		if p.url = addressInLog(p.log.String()); p.url != "" {
			return
		}
		select {
		case <-changed:
		case <-p.exited:
			t.Fatalf("the server ended with code %d:\n%s", p.code, p.log)
		case <-deadline:
			t.Fatalf("the server is not ready after %s:\n%s", timeout, p.log)
		}
	}
}

// addressInLog returns the address that the server logged, or "".
func addressInLog(log string) string {
	for scan := bufio.NewScanner(strings.NewReader(log)); scan.Scan(); {
		var line struct{ Msg, Address string }
		if json.Unmarshal(scan.Bytes(), &line) == nil && line.Msg == "serving" {
			return "http://" + line.Address
		}
	}
	return ""
}

// kill ends the server by SIGKILL and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.exited
}

// signal sends a signal to the server.
func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal("send a signal:", err)
	}
}

// wantExit waits for the server to end and checks that its exit code is 0.
func (p *process) wantExit(t *testing.T, within time.Duration) {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(within):
		t.Fatalf("the server still runs after %s", within)
	}
	if p.code != 0 {
		t.Errorf("the server ended with code %d:\n%s", p.code, tail(p.log.String(), 20))
	}
}

// command returns a call of the program that inherits no COURSEBRIDGE_ variables.
func command(args ...string) *exec.Cmd { return commandOf(binary, args...) }

// commandOf is command for another program.
func commandOf(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "COURSEBRIDGE_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	return cmd
}

// commandResult is the output and the exit code of a command.
type commandResult struct {
	stdout, stderr string
	code           int
}

// runCommand runs a command to its end, whatever its exit code.
func runCommand(t *testing.T, cmd *exec.Cmd) commandResult {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal("run the program:", err)
	}
	return commandResult{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// runJSON runs an operator's command with --json and returns the object it prints.
func runJSON[T any](t *testing.T, database string, args ...string) T {
	t.Helper()
	return runJSONWith[T](t, binary, database, args...)
}

// runJSONWith is runJSON for another program.
func runJSONWith[T any](t *testing.T, program, database string, args ...string) T {
	t.Helper()
	done := runCommand(t, commandOf(program, append(args, "--json", "--database", database)...))
	if done.code != 0 {
		t.Fatalf("%s: code %d: %s", strings.Join(args, " "), done.code, done.stderr)
	}
	return decodeOne[T](t, done.stdout)
}

// decodeOne decodes the output of a command, which must be one JSON object.
func decodeOne[T any](t *testing.T, printed string) T {
	t.Helper()
	var out T
	dec := json.NewDecoder(strings.NewReader(printed))
	if err := dec.Decode(&out); err != nil {
		t.Fatalf("read %q: %v", printed, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		t.Fatalf("printed more than one object: %q", printed)
	}
	return out
}

// logBuffer collects a process's output. changed returns a channel that is closed
// when there is more.
type logBuffer struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	grown chan struct{}
}

func newLogBuffer() *logBuffer { return &logBuffer{grown: make(chan struct{})} }

func (o *logBuffer) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.grown)
	o.grown = make(chan struct{})
	return o.buf.Write(p)
}

func (o *logBuffer) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func (o *logBuffer) changed() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.grown
}

// tail returns the last lines of a log.
func tail(log string, lines int) string {
	all := strings.Split(strings.TrimSpace(log), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
