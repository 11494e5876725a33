package faults

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// systemd opens the socket, is told when the server is ready and when it stops, and is
// fed while it runs.
func TestSystemdRunsTheServer(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "notify")
	notify, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = notify.Close() }()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	passed, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = passed.Close() }()

	program := command("serve", "--listen", "systemd", "--database", sqliteDatabase(t))
	cmd := command()
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, binary}, program.Args[1:]...)
	cmd.Env = append(cmd.Env, "LISTEN_FDS=1", "NOTIFY_SOCKET="+socket, "WATCHDOG_USEC=400000")
	cmd.ExtraFiles, cmd.Stderr = []*os.File{passed}, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	wantNotice := func(want string) {
		t.Helper()
		_ = notify.SetReadDeadline(time.Now().Add(timeout))
		for text := make([]byte, 100); ; {
			n, err := notify.Read(text)
			if err != nil {
				t.Fatalf("systemd was not told %s: %v", want, err)
			}
			if strings.Contains(string(text[:n]), want) {
				return
			}
		}
	}
	wantNotice("READY=1")
	resp, err := http.Get("http://" + l.Addr().String() + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("/readyz on systemd's socket: %d", resp.StatusCode)
	}
	wantNotice("WATCHDOG=1")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	wantNotice("STOPPING=1")
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended: %v", err)
	}
}
