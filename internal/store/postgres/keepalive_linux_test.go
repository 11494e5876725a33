package postgres_test

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// A connection to a server that is gone breaks within half a minute: the kernel asks
// whether the other end is there.
func TestConnectionsAreKeptAlive(t *testing.T) {
	t.Parallel()
	e := openMigrated(t)
	conn, ok := e.NetConn(t).(*net.TCPConn)
	if !ok {
		t.Fatal("the connection to the test server is no TCP connection")
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []struct {
		name                string
		level, option, want int
	}{
		{"SO_KEEPALIVE", unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		{"TCP_KEEPIDLE", unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 10},
		{"TCP_KEEPINTVL", unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 5},
		{"TCP_KEEPCNT", unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 3},
	} {
		var got int
		var optionErr error
		if err := raw.Control(func(fd uintptr) { got, optionErr = unix.GetsockoptInt(int(fd), o.level, o.option) }); err != nil || optionErr != nil {
			t.Fatal(err, optionErr)
		}
		if got != o.want {
			t.Errorf("%s is %d, want %d", o.name, got, o.want)
		}
	}
}
