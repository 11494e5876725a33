package load

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// engines maps the name of an engine to a function that returns a new database.
var engines = map[string]func(b *testing.B) string{
	"sqlite": func(b *testing.B) string { return "sqlite://" + filepath.Join(b.TempDir(), "load.db") },
	"postgres": func(b *testing.B) string {
		b.Helper()
		return pgtest.URL(b)
	},
}

var engineNames = []string{"postgres", "sqlite"}

// vacuum does for a filled PostgreSQL database what autovacuum does within a minute. Without
// statistics the planner may choose plans that no database keeps for longer.
func vacuum(b *testing.B, database string) {
	b.Helper()
	if !strings.HasPrefix(database, "postgres://") {
		return
	}
	if _, err := connect(b, database).Exec(b.Context(), "VACUUM ANALYZE"); err != nil {
		b.Fatal(err)
	}
}

// program is a running server.
type program struct {
	cmd     *exec.Cmd
	address string
	ready   time.Duration // from its start until /readyz answered 200
	ended   chan struct{}
}

// serve starts a server with the default settings, but without rate limit and with
// webhooks to this machine allowed.
func serve(b *testing.B, database string, flags ...string) *program {
	b.Helper()
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--rate-limit", "0", "--webhook-allow-private", "--webhook-allow-http"}, flags...)
	cmd := command(b, database, args...)
	log, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	cmd.Stderr = log
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	p := &program{cmd: cmd, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // it is killed in the end
		close(p.ended)
	}()
	b.Cleanup(func() {
		p.kill()
		if b.Failed() {
			logErrors(b, log.Name())
		}
	})
	if p.address, err = p.waitUntilReady(log.Name(), 30*time.Second); err != nil {
		b.Fatal(err)
	}
	p.ready = time.Since(began)
	return p
}

// logErrors repeats the errors that a server has logged.
func logErrors(b *testing.B, log string) {
	b.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		b.Log(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, `"level":"ERROR"`) {
			b.Log(strings.TrimSpace(line))
		}
	}
}

// waitUntilReady waits for the address in the log, then checks /readyz.
func (p *program) waitUntilReady(log string, within time.Duration) (string, error) {
	for end := time.Now().Add(within); time.Now().Before(end); {
		select {
		case <-p.ended:
			text, _ := os.ReadFile(log)
			return "", fmt.Errorf("the server ended: %s", text)
		case <-time.After(time.Millisecond): // fine enough for the figure
		}
		if address := addressInLog(log); address != "" {
			c, err := dial(address)
			if err != nil {
				return "", err
			}
			err = c.do(get("/readyz", ""))
			c.close()
			return address, err
		}
	}
	return "", errors.New("the server is not ready")
}

func addressInLog(log string) string {
	f, err := os.Open(log)
	if err != nil {
		return ""
	}
	defer f.Close()
	for scan := bufio.NewScanner(f); scan.Scan(); {
		var line struct{ Msg, Address string }
		if json.Unmarshal(scan.Bytes(), &line) == nil && line.Msg == "serving" {
			return line.Address
		}
	}
	return ""
}

func (p *program) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// stop ends the server by SIGTERM and waits for it.
func (p *program) stop(b *testing.B) {
	b.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		b.Fatal(err)
	}
	<-p.ended
}

// rss returns the resident memory in MB.
func (p *program) rss(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kb / 1024
		}
	}
	b.Fatal("no VmRSS")
	return 0
}

// otherBinaries maps a database to the program that serves it, if it is not the one
// of this tree.
var otherBinaries sync.Map

// command returns a call of the program that inherits no COURSEBRIDGE_ variables.
func command(b *testing.B, database string, args ...string) *exec.Cmd {
	b.Helper()
	path, ok := otherBinaries.Load(database)
	if !ok {
		path = binary(b)
	}
	cmd := exec.Command(path.(string), append(args, "--database", database)...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "COURSEBRIDGE_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	return cmd
}

// runJSON runs an operator's command and returns the object it prints.
func runJSON[T any](b *testing.B, database string, args ...string) T {
	b.Helper()
	cmd := command(b, database, append(args, "--json")...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%s: %v: %s", strings.Join(args, " "), err, stderr.String())
	}
	var result T
	if err := json.Unmarshal(out, &result); err != nil {
		b.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return result
}

// company is a company with a course and a token.
type company struct {
	database string
	id       int64
	courseID int64
	token    string
}

func newCompany(b *testing.B, database string) company {
	b.Helper()
	f := company{database: database}
	runJSON[struct{ Status string }](b, database, "migrate")
	f.id = runJSON[struct{ CompanyID int64 }](b, database, "company", "create", "--name", "Acme", "--admin", "ann@acme.example").CompanyID
	f.courseID = runJSON[struct{ CourseID int64 }](b, database, "course", "add", "--company", formatID(f.id), "--name", "Safety at work").CourseID
	f.token = runJSON[struct{ Token string }](b, database, "token", "create", "--company", formatID(f.id), "--name", "load",
		"--scope", "b2b_read", "--scope", "b2b_provision", "--scope", "b2b_assignment").Token
	return f
}

// addWebhook adds a webhook and returns its id.
func (f company) addWebhook(b *testing.B, target, event string) int64 {
	b.Helper()
	return runJSON[struct{ ID int64 }](b, f.database, "webhook", "add", "--company", formatID(f.id), "--url", target, "--event", event).ID
}

func formatID(n int64) string { return strconv.FormatInt(n, 10) }
