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

// patience is for a machine that is busy with other tests.
const patience = 30 * time.Second

// process is a running server.
type process struct {
	cmd    *exec.Cmd
	url    string
	log    *text
	exited chan struct{} // closed when it has
	code   int           // valid then
}

// serve starts a server on a free port and waits until it serves.
func serve(t *testing.T, database string, flags ...string) *process {
	t.Helper()
	p := launch(t, database, flags...)
	p.ready(t)
	return p
}

// launch starts a server and does not wait for it.
func launch(t *testing.T, database string, flags ...string) *process {
	t.Helper()
	return launchWith(t, nil, database, flags...)
}

func launchWith(t *testing.T, env []string, database string, flags ...string) *process {
	t.Helper()
	args := append([]string{
		"serve", "--listen", "127.0.0.1:0", "--database", database, "--rate-limit", "0",
		"--webhook-allow-private", "--webhook-allow-http",
	}, flags...)
	p := &process{cmd: command(args...), log: newText(), exited: make(chan struct{})}
	p.cmd.Stderr, p.cmd.Env = p.log, append(p.cmd.Env, env...)
	if err := p.cmd.Start(); err != nil {
		t.Fatal("start the program:", err)
	}
	go func() {
		_ = p.cmd.Wait() // its exit code tells the same
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

// ready waits for the line that tells the address.
func (p *process) ready(t *testing.T) {
	t.Helper()
	deadline := time.After(patience)
	for {
		changed := p.log.changed()
		if p.url = served(p.log.String()); p.url != "" {
			return
		}
		select {
		case <-changed:
		case <-p.exited:
			t.Fatalf("the server ended with code %d:\n%s", p.code, p.log)
		case <-deadline:
			t.Fatalf("the server is not ready after %s:\n%s", patience, p.log)
		}
	}
}

func served(log string) string {
	for scan := bufio.NewScanner(strings.NewReader(log)); scan.Scan(); {
		var line struct{ Msg, Address string }
		if json.Unmarshal(scan.Bytes(), &line) == nil && line.Msg == "serving" {
			return "http://" + line.Address
		}
	}
	return ""
}

// kill ends the server as a power cut would, and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.exited
}

// signal asks the server to stop.
func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal("send a signal:", err)
	}
}

// wantExit waits for the end and checks its code.
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

// command is a call of the program that inherits none of our own settings.
func command(args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "COURSEBRIDGE_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	return cmd
}

// ended is what came of one command.
type ended struct {
	stdout, stderr string
	code           int
}

func finish(t *testing.T, cmd *exec.Cmd) ended {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal("run the program:", err)
	}
	return ended{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// ask runs an operator's command with --json and gives the object it prints.
func ask[T any](t *testing.T, database string, args ...string) T {
	t.Helper()
	done := finish(t, command(append(args, "--json", "--database", database)...))
	if done.code != 0 {
		t.Fatalf("%s: code %d: %s", strings.Join(args, " "), done.code, done.stderr)
	}
	return oneObject[T](t, done.stdout)
}

// oneObject reads the one JSON object that a command printed.
func oneObject[T any](t *testing.T, printed string) T {
	t.Helper()
	var out T
	dec := json.NewDecoder(strings.NewReader(printed))
	if err := dec.Decode(&out); err != nil {
		t.Fatalf("read %q: %v", printed, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		t.Fatalf("more than one object is printed: %q", printed)
	}
	return out
}

// text gathers output and tells when there is more.
type text struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	more chan struct{}
}

func newText() *text { return &text{more: make(chan struct{})} }

func (o *text) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.more)
	o.more = make(chan struct{})
	return o.buf.Write(p)
}

func (o *text) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func (o *text) changed() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.more
}

func tail(log string, lines int) string {
	all := strings.Split(strings.TrimSpace(log), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
