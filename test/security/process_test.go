package security

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// process is a running server. Its settings come from the environment, as they do in
// production, so that its arguments hold no secret.
type process struct {
	cmd *exec.Cmd
	url string
	log *logBuffer
}

// launch starts a server with additional environment variables and waits until it
// serves.
func launch(t *testing.T, database string, env ...string) *process {
	t.Helper()
	p := &process{cmd: command(database, "serve"), log: &logBuffer{}}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.Env = append(append(p.cmd.Env, "COURSEBRIDGE_LISTEN=127.0.0.1:0", "COURSEBRIDGE_RATE_LIMIT=0",
		"COURSEBRIDGE_WEBHOOK_ALLOW_PRIVATE=true", "COURSEBRIDGE_WEBHOOK_ALLOW_HTTP=true"), env...)
	if err := p.cmd.Start(); err != nil {
		t.Fatal("start the program:", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- p.cmd.Wait() }()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended by itself
		<-exited
		if t.Failed() {
			text := p.log.String()
			t.Logf("end of the log:\n%s", text[max(0, len(text)-4000):])
		}
	})
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		for line := range strings.Lines(p.log.String()) {
			var entry struct{ Msg, Address string }
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "serving" {
				p.url = "http://" + entry.Address
				return p
			}
		}
	}
	t.Fatalf("the server is not ready:\n%s", p.log)
	return nil
}

// command returns a call of the program that gets the database from the environment
// and inherits no other setting.
func command(database string, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "COURSEBRIDGE_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "COURSEBRIDGE_DATABASE="+database)
	return cmd
}

// runJSON runs an operator's command and returns the object that it prints. What it
// writes to standard error is added to log.
func runJSON[T any](t *testing.T, log *logBuffer, database string, args ...string) T {
	t.Helper()
	cmd := command(database, append(args, "--json")...)
	cmd.Stderr = log
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, log)
	}
	var out T
	if err := json.Unmarshal(printed, &out); err != nil {
		t.Fatalf("%s printed %q: %v", strings.Join(args, " "), printed, err)
	}
	return out
}

// logBuffer collects output of several processes.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
