package faults

import (
	"fmt"
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
	"time"

	"golang.org/x/sys/unix"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// postgresServer is a server of PostgreSQL that belongs to one test, which may break it.
type postgresServer struct {
	t    *testing.T
	dir  string // of the cluster
	port string
}

// privateDir returns a directory that PostgreSQL's account can enter. Sockets have
// short paths, which those of t.TempDir are not.
func privateDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "coursebridge-faults-pg-") //nolint:usetesting // Another user must be able to enter it.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	ownedByServer(t, dir)
	return dir
}

// newPostgres creates a cluster in a directory and starts it.
func newPostgres(t *testing.T, dir string) *postgresServer {
	t.Helper()
	_ = pgtest.URL(t) // a run without PostgreSQL is reported as the other tests report it
	s := &postgresServer{t: t, dir: filepath.Join(dir, "primary")}
	s.must("initdb", "--pgdata", s.dir, "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8",
		"--no-sync", "--wal-segsize", "1")
	s.configure("listen_addresses = '127.0.0.1'", "fsync = off", "shared_buffers = '16MB'", "min_wal_size = '2MB'", "max_wal_size = '16MB'",
		"max_connections = 40", "wal_level = replica", "restart_after_crash = on")
	s.start()
	return s
}

// configure adds settings, which a start or a reload applies.
func (s *postgresServer) configure(settings ...string) {
	s.t.Helper()
	f, err := os.OpenFile(filepath.Join(s.dir, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = f.WriteString("\n" + strings.Join(settings, "\n") + "\n")
	if closeErr := f.Close(); err != nil || closeErr != nil {
		s.t.Fatal(err, closeErr)
	}
}

// start starts the server, the first time on a free port below those that the kernel
// uses for outgoing connections.
func (s *postgresServer) start() {
	s.t.Helper()
	first := s.port == ""
	for try := 0; ; try++ {
		if first {
			s.port = strconv.Itoa(20_000 + rand.IntN(12_000))
		}
		out, err := s.run("pg_ctl", "--pgdata", s.dir, "--log", s.dir+".log", "--wait", "--timeout", "60", "--silent",
			"--options", "-p "+s.port+" -k "+filepath.Dir(s.dir), "start")
		if err == nil {
			break
		}
		if !first || try == 20 {
			log, _ := os.ReadFile(s.dir + ".log")
			s.t.Fatalf("start PostgreSQL: %v %s\n%s", err, out, tail(string(log), 20))
		}
	}
	s.t.Cleanup(s.stopNow)
}

// stopNow ends the server as a crash does.
func (s *postgresServer) stopNow() {
	_, _ = s.run("pg_ctl", "--pgdata", s.dir, "--mode", "immediate", "--wait", "--silent", "stop") // it may be down already
}

// isRunning reports whether the server accepts connections.
func (s *postgresServer) isRunning() bool {
	_, err := s.run("pg_isready", "--host", "127.0.0.1", "--port", s.port, "--quiet")
	return err == nil
}

// newStandby copies the cluster to a standby that streams from it, and starts it.
// From then on the server acknowledges what the standby has, and nothing else.
func (s *postgresServer) newStandby() *postgresServer {
	s.t.Helper()
	standby := &postgresServer{t: s.t, dir: filepath.Join(filepath.Dir(s.dir), "standby")}
	s.must("pg_basebackup", "--pgdata", standby.dir, "--host", "127.0.0.1", "--port", s.port, "--username", "postgres",
		"--write-recovery-conf", "--wal-method", "stream", "--checkpoint", "fast", "--no-sync")
	standby.start()
	s.configure("synchronous_standby_names = '*'")
	s.must("pg_ctl", "--pgdata", s.dir, "--silent", "reload")
	return standby
}

// promote makes a standby the primary.
func (s *postgresServer) promote() {
	s.t.Helper()
	s.must("pg_ctl", "--pgdata", s.dir, "--wait", "--silent", "promote")
}

// address returns the address of the first of the servers that accepts changes.
func address(servers ...*postgresServer) string {
	var hosts []string
	for _, s := range servers {
		hosts = append(hosts, net.JoinHostPort("127.0.0.1", s.port))
	}
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Host: strings.Join(hosts, ","), Path: "/postgres"}
	u.RawQuery = "sslmode=disable&target_session_attrs=read-write"
	return u.String()
}

func (s *postgresServer) must(program string, args ...string) {
	s.t.Helper()
	if out, err := s.run(program, args...); err != nil {
		s.t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

// run runs a program of PostgreSQL, which refuses to work for root.
func (s *postgresServer) run(program string, args ...string) (string, error) {
	found, err := exec.Command("../../scripts/pg.sh", "bindir").Output()
	if err != nil {
		return "", fmt.Errorf("find PostgreSQL: %w", err)
	}
	out, err := os.CreateTemp("", "coursebridge-faults-out-")
	if err != nil {
		return "", err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd := exec.Command(filepath.Join(strings.TrimSpace(string(found)), program), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Dir(s.dir), out, out // a file, because the server keeps it open
	if uid, gid := serverAccount(s.t); uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	}
	err = cmd.Run()
	text, _ := os.ReadFile(out.Name())
	return string(text), err
}

// serverAccount returns the account that PostgreSQL runs as, 0 for the test's own.
func serverAccount(t *testing.T) (uid, gid uint32) {
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

func ownedByServer(t *testing.T, dir string) {
	t.Helper()
	if uid, gid := serverAccount(t); uid != 0 {
		if err := os.Chown(dir, int(uid), int(gid)); err != nil {
			t.Fatal(err)
		}
	}
}

// smallDisk mounts a disk of some bytes in a directory.
func smallDisk(t *testing.T, dir string, bytes int) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0755", bytes)); err != nil {
		t.Fatal("mount a small disk (this test needs to be root, or CAP_SYS_ADMIN):", err)
	}
	t.Cleanup(func() {
		for range 100 { // the server's last process may just be ending
			if unix.Unmount(dir, 0) == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Error("the small disk can't be unmounted")
	})
	ownedByServer(t, dir)
}
