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
	"syscall"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// engines gives a new database of each kind by name.
var engines = map[string]func(b *testing.B) string{
	"sqlite": func(b *testing.B) string { return "sqlite://" + filepath.Join(b.TempDir(), "load.db") },
	"postgres": func(b *testing.B) string {
		b.Helper()
		return pgtest.URL(b)
	},
}

var engineNames = []string{"postgres", "sqlite"}

// program is the product, serving.
type program struct {
	cmd     *exec.Cmd
	address string
	ready   time.Duration // from its start until /readyz said so
	ended   chan struct{}
}

// serve starts the product with its defaults, except that it limits no rate and
// calls receivers on this machine.
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
		_ = cmd.Wait() // it is killed
		close(p.ended)
	}()
	b.Cleanup(p.kill)
	if p.address, err = p.until(log.Name(), 30*time.Second); err != nil {
		b.Fatal(err)
	}
	p.ready = time.Since(began)
	return p
}

// until watches the log for the address, and asks whether the server is ready.
func (p *program) until(log string, within time.Duration) (string, error) {
	for end := time.Now().Add(within); time.Now().Before(end); {
		select {
		case <-p.ended:
			text, _ := os.ReadFile(log)
			return "", fmt.Errorf("the server ended: %s", text)
		case <-time.After(time.Millisecond): // a finer ruler than the figure needs
		}
		if address := served(log); address != "" {
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

func served(log string) string {
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
	_ = p.cmd.Process.Kill() // it may be gone
	<-p.ended
}

// stop ends it as an operator would.
func (p *program) stop(b *testing.B) {
	b.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		b.Fatal(err)
	}
	<-p.ended
}

// rss is the resident memory in MB.
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

func command(b *testing.B, database string, args ...string) *exec.Cmd {
	b.Helper()
	cmd := exec.Command(binary(b), append(args, "--database", database)...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "COURSEBRIDGE_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	return cmd
}

// ask runs an operator's command and gives the object it prints.
func ask[T any](b *testing.B, database string, args ...string) T {
	b.Helper()
	cmd := command(b, database, append(args, "--json")...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%s: %v: %s", strings.Join(args, " "), err, complaint.String())
	}
	var result T
	if err := json.Unmarshal(out, &result); err != nil {
		b.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return result
}

// firm is a company with a course and a token.
type firm struct {
	database string
	company  int64
	course   int64
	token    string
}

func newFirm(b *testing.B, database string) firm {
	b.Helper()
	f := firm{database: database}
	ask[struct{ Status string }](b, database, "migrate")
	f.company = ask[struct{ CompanyID int64 }](b, database, "company", "create", "--name", "Acme", "--admin", "ann@acme.example").CompanyID
	f.course = ask[struct{ CourseID int64 }](b, database, "course", "add", "--company", id(f.company), "--name", "Safety at work").CourseID
	f.token = ask[struct{ Token string }](b, database, "token", "create", "--company", id(f.company), "--name", "load",
		"--scope", "b2b_read", "--scope", "b2b_provision", "--scope", "b2b_assignment").Token
	return f
}

// listen adds a webhook and gives its id.
func (f firm) listen(b *testing.B, target, event string) int64 {
	b.Helper()
	return ask[struct{ ID int64 }](b, f.database, "webhook", "add", "--company", id(f.company), "--url", target, "--event", event).ID
}

func id(n int64) string { return strconv.FormatInt(n, 10) }
