package faults

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

const containerMemory = 256 << 20

// memoryGroup is a control group of the kernel with a limit of memory.
type memoryGroup struct {
	dir, limit, peak string // the folder and the names of its files
}

// newMemoryGroup makes a group inside the one that the test runs in, in either version of
// control groups.
func newMemoryGroup(t *testing.T) memoryGroup {
	t.Helper()
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		pgtest.NotAllowed(t, "control groups", err)
	}
	g := memoryGroup{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if _, group, isFirst := strings.Cut(line, ":memory:"); isFirst {
			g = memoryGroup{"/sys/fs/cgroup/memory" + group, "memory.limit_in_bytes", "memory.max_usage_in_bytes"}
			break
		}
		if group, isSecond := strings.CutPrefix(line, "0::"); isSecond {
			g = memoryGroup{"/sys/fs/cgroup" + group, "memory.max", "memory.peak"}
		}
	}
	g.dir = filepath.Join(g.dir, fmt.Sprintf("coursebridge-test-%d", os.Getpid()))
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		pgtest.NotAllowed(t, "a control group of its own", err)
	}
	t.Cleanup(func() { // the processes have ended: cleanups run in reverse order
		if err := os.Remove(g.dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(g.dir, g.limit), []byte(strconv.Itoa(containerMemory)), 0o600); err != nil {
		pgtest.NotAllowed(t, "a limit of memory", err)
	}
	return g
}

// read returns a number from a file of the group.
func (g memoryGroup) read(t *testing.T, name string) int64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(g.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// launchBy starts a server by a shell that prepares its surroundings first.
func launchBy(t *testing.T, wrapper []string, prepare, database string, flags ...string) *process {
	t.Helper()
	inner := command(append(serveArguments(database), flags...)...)
	args := slices.Concat(wrapper, []string{"sh", "-c", prepare + ` && exec "$0" "$@"`})
	cmd := exec.Command(args[0], append(args[1:], inner.Args...)...)
	cmd.Env = inner.Env
	return launchCommand(t, nil, cmd)
}

// In a container of 256 MiB, 40 wrong sign-ins at once, each of which needs 64 MiB to hash,
// do not get the server killed: all are answered, and it serves afterwards.
func TestSignInsInASmallContainer(t *testing.T) {
	t.Parallel()
	database := sqliteDatabase(t)
	newCompany(t, database)
	group := newMemoryGroup(t)
	server := launchBy(t, nil, "echo $$ >"+filepath.Join(group.dir, "cgroup.procs"), database, "--trusted-proxy", "127.0.0.1")
	server.ready(t)
	client := newClient(t)
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			status, err := signInWrongly(t.Context(), client, server.url, i)
			if err != nil || status != http.StatusUnprocessableEntity && status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
				t.Errorf("sign-in %d: status %d, %v", i, status, err)
			}
		})
	}
	all.Wait()
	if got, err := client.Get(server.url + "/readyz"); err != nil || got.StatusCode != http.StatusOK {
		t.Errorf("readiness after the sign-ins: %v, %v", got, err)
	} else {
		_ = got.Body.Close()
	}
	t.Logf("the group took %d MB of %d MB at most", group.read(t, group.peak)/1e6, containerMemory/1_000_000)
}

// signInWrongly tries a password from an address of its own, as so many people would.
func signInWrongly(ctx context.Context, client *http.Client, server string, i int) (status int, err error) {
	form := url.Values{"email": {fmt.Sprintf("person-%d@acme.example", i)}, "password": {"a wrong password here"}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server+"/cabinet/sign-in", bytes.NewBufferString(form.Encode()))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("X-Forwarded-For", fmt.Sprintf("198.51.100.%d", i+1))
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// On a machine without time zones, as in an image with nothing but the program, reports
// show the company's time. Without CA certificates the server warns that webhooks will fail.
func TestMachineWithoutTimeZonesAndCertificates(t *testing.T) {
	t.Parallel()
	database := sqliteDatabase(t)
	acme := newCompany(t, database)
	const hide = "for d in /usr/share/zoneinfo /usr/lib/locale/TZ /etc/zoneinfo /etc/ssl /etc/pki /usr/local/share/certs; do " +
		"if [ -d $d ]; then mount -t tmpfs none $d || exit 1; fi; done"
	isolate := []string{pgtest.Program(t, "unshare"), "--mount"}
	if os.Getuid() != 0 {
		isolate = append(isolate, "--map-root-user")
	}
	if out, err := exec.Command(isolate[0], append(isolate[1:], "sh", "-c", hide)...).CombinedOutput(); err != nil {
		pgtest.NotAllowed(t, "a file system of the test's own", fmt.Errorf("%w: %s", err, out))
	}
	prepare := "export GOROOT=/nonexistent ZONEINFO=/nonexistent && unset SSL_CERT_FILE SSL_CERT_DIR && " + hide + " && ! ls /usr/share/zoneinfo/Europe"
	company := runJSON[struct{ CompanyID int64 }](t, database, "company", "create", "--name", "Berlin", "--admin", "b@b.example", "--time-zone", "Europe/Berlin")
	acme.id = company.CompanyID
	acme.token = runJSON[struct{ Token string }](t, database, "token", "create", "--company", formatID(acme.id), "--name", "t", "--scope", "b2b_read", "--scope", "b2b_provision").Token
	server := launchBy(t, isolate, prepare, database)
	server.ready(t)
	if log := server.log.String(); !strings.Contains(log, "this machine has no CA certificates") {
		t.Errorf("the server does not warn of missing CA certificates:\n%s", log)
	}
	acme.provision(t, server.url, "ann")
	report := string(acme.mustSend(t, http.MethodGet, server.url+"/api/v1/reports/employees.csv", nil))
	if !strings.Contains(report, "+01:00") && !strings.Contains(report, "+02:00") {
		t.Errorf("the report is not in the time of Berlin:\n%s", report)
	}
}
