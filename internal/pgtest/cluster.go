//go:build unix

package pgtest

import (
	"context"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Cluster is a PostgreSQL server that belongs to one test, which may break it.
type Cluster struct {
	tb   testing.TB
	dir  string // of the cluster
	port string
}

// ClusterDir returns a directory that PostgreSQL's account can enter. The path is short,
// because Unix socket paths are limited to about 100 bytes; t.TempDir's are longer.
func ClusterDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "coursebridge-pg-") //nolint:usetesting // Another user must be able to enter it.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	ChownToServer(t, dir)
	return dir
}

// NewCluster creates a cluster in a directory and starts it.
func NewCluster(t testing.TB, dir string) *Cluster {
	t.Helper()
	needServer(t)
	s := &Cluster{tb: t, dir: filepath.Join(dir, "primary")}
	s.must("initdb", "--pgdata", s.dir, "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8",
		"--no-sync", "--wal-segsize", "1")
	s.Configure("listen_addresses = '127.0.0.1'", "fsync = off", "shared_buffers = '16MB'", "min_wal_size = '2MB'", "max_wal_size = '16MB'",
		"max_connections = 40", "wal_level = replica", "restart_after_crash = on")
	s.Start()
	return s
}

// Configure adds settings, which a start or a reload applies.
func (s *Cluster) Configure(settings ...string) {
	s.tb.Helper()
	f, err := os.OpenFile(filepath.Join(s.dir, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		s.tb.Fatal(err)
	}
	_, err = f.WriteString("\n" + strings.Join(settings, "\n") + "\n")
	if closeErr := f.Close(); err != nil || closeErr != nil {
		s.tb.Fatal(err, closeErr)
	}
}

// Start starts the server, the first time on a free port below those that the kernel
// uses for outgoing connections.
func (s *Cluster) Start() {
	s.tb.Helper()
	first := s.port == ""
	for try := 0; ; try++ {
		if first {
			s.port = strconv.Itoa(20_000 + rand.IntN(12_000)) //nolint:gosec // A port is no secret.
		}
		out, err := s.run("pg_ctl", "--pgdata", s.dir, "--log", s.dir+".log", "--wait", "--timeout", "60", "--silent",
			"--options", "-p "+s.port+" -k "+filepath.Dir(s.dir), "start")
		if err == nil {
			break
		}
		if !first || try == 20 {
			log, _ := os.ReadFile(s.dir + ".log")
			s.tb.Fatalf("start PostgreSQL: %v %s\n%s", err, out, log)
		}
	}
	s.tb.Cleanup(s.StopNow)
}

// StopNow ends the server as a crash does.
func (s *Cluster) StopNow() {
	_, _ = s.run("pg_ctl", "--pgdata", s.dir, "--mode", "immediate", "--wait", "--silent", "stop") // it may be down already
}

// IsRunning reports whether the server accepts connections.
func (s *Cluster) IsRunning() bool {
	_, err := s.run("pg_isready", "--host", "127.0.0.1", "--port", s.port, "--quiet")
	return err == nil
}

// NewStandby copies the cluster to a standby that streams from it, and starts it.
func (s *Cluster) NewStandby() *Cluster {
	s.tb.Helper()
	standby := &Cluster{tb: s.tb, dir: filepath.Join(filepath.Dir(s.dir), "standby")}
	s.must("pg_basebackup", "--pgdata", standby.dir, "--host", "127.0.0.1", "--port", s.port, "--username", "postgres",
		"--write-recovery-conf", "--wal-method", "stream", "--checkpoint", "fast", "--no-sync")
	standby.Configure("hot_standby_feedback = on")
	standby.Start()
	return standby
}

// EnableSynchronousReplication makes commits wait until the standby has them.
func (s *Cluster) EnableSynchronousReplication() {
	s.tb.Helper()
	s.Configure("synchronous_standby_names = '*'")
	s.must("pg_ctl", "--pgdata", s.dir, "--silent", "reload")
}

// Promote makes a standby the primary.
func (s *Cluster) Promote() {
	s.tb.Helper()
	s.must("pg_ctl", "--pgdata", s.dir, "--wait", "--silent", "promote")
}

// ClusterAddress returns the address of the first of the servers that accepts changes.
func ClusterAddress(servers ...*Cluster) string {
	var hosts []string
	for _, s := range servers {
		hosts = append(hosts, net.JoinHostPort("127.0.0.1", s.port))
	}
	return clusterURL(strings.Join(hosts, ","), "read-write")
}

// ReadAddress returns the address of a standby.
func (s *Cluster) ReadAddress() string {
	return clusterURL(net.JoinHostPort("127.0.0.1", s.port), "any")
}

func clusterURL(hosts, attributes string) string {
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Host: hosts, Path: "/postgres"}
	u.RawQuery = "sslmode=disable&target_session_attrs=" + attributes
	return u.String()
}

func (s *Cluster) must(program string, args ...string) {
	s.tb.Helper()
	if out, err := s.run(program, args...); err != nil {
		s.tb.Fatalf("%s: %v\n%s", program, err, out)
	}
}

// run runs a program of PostgreSQL, which refuses to work for root.
func (s *Cluster) run(program string, args ...string) (string, error) {
	out, err := os.CreateTemp("", "coursebridge-out-")
	if err != nil {
		return "", err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd := exec.CommandContext(context.WithoutCancel(s.tb.Context()), filepath.Join(Programs(s.tb), program), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Dir(s.dir), out, out // a file, because the server keeps it open
	AsServer(s.tb, cmd)
	err = cmd.Run()
	text, _ := os.ReadFile(out.Name())
	return string(text), err
}

// Programs returns the directory of PostgreSQL's programs.
func Programs(tb testing.TB) string {
	tb.Helper()
	found, err := exec.CommandContext(context.WithoutCancel(tb.Context()), filepath.Join(repository(), "scripts", "pg.sh"), "bindir").Output()
	if err != nil {
		tb.Fatal("find PostgreSQL:", err)
	}
	return strings.TrimSpace(string(found))
}

// AsServer has a program run as PostgreSQL's account, which may not be root's.
func AsServer(tb testing.TB, cmd *exec.Cmd) {
	tb.Helper()
	if uid, gid := serverAccount(tb); uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	}
}

// StopCluster crashes a server that something else started in dir.
func StopCluster(tb testing.TB, dir string) { (&Cluster{tb: tb, dir: dir}).StopNow() }

// repository returns the directory that holds go.mod; a test starts in its package's
// directory.
func repository() string {
	for dir := "."; len(dir) < 100; dir = filepath.Join(dir, "..") {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	panic("pgtest: no directory above this one holds go.mod")
}

// serverAccount returns the account that PostgreSQL runs as, 0 for the test's own.
func serverAccount(t testing.TB) (uid, gid uint32) {
	t.Helper()
	if os.Getuid() != 0 {
		return 0, 0
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		t.Fatal(err)
	}
	u, _ := strconv.ParseUint(account.Uid, 10, 32)
	g, _ := strconv.ParseUint(account.Gid, 10, 32)
	return uint32(u), uint32(g)
}

// ChownToServer makes PostgreSQL's account the owner of a directory.
func ChownToServer(t testing.TB, dir string) {
	t.Helper()
	if uid, gid := serverAccount(t); uid != 0 {
		if err := os.Chown(dir, int(uid), int(gid)); err != nil {
			t.Fatal(err)
		}
	}
}
