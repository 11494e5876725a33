package delivery

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// These errors depend on the network or on a race inside net/http, so they are made here.
func TestClassify(t *testing.T) {
	t.Parallel()
	guard := Guard{AllowHTTP: true}
	to, err := guard.parse("http://hooks.test/")
	if err != nil {
		t.Fatal(err)
	}
	dial := func(cause error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", cause)}
	}
	for _, tc := range []struct {
		name                string
		err                 error
		connected, answered bool
		kind                Kind
		says                string
	}{
		{"lookup timed out", &net.DNSError{Name: "hooks.test", Server: "10.9.9.9:53", IsTimeout: true}, false, false,
			KindDNS, "hooks.test could not be looked up"},
		{"host unreachable", dial(syscall.EHOSTUNREACH), false, false, KindConnect, "no route"},
		{"network unreachable", dial(syscall.ENETUNREACH), false, false, KindConnect, "no route"},
		{"connect timed out", dial(syscall.ETIMEDOUT), false, false, KindTimeout, "No connection to hooks.test:80"},
		{"out of ports", dial(syscall.EADDRNOTAVAIL), false, false, KindConnect, "could not be made"},
		{"closed before the request", errors.New("http: server closed idle connection"), true, false,
			KindConnect, "before it answered"},
		{"broke off within the headers", fmt.Errorf("read: %w", io.ErrUnexpectedEOF), true, true,
			KindBody, "unexpected EOF"},
		{"long garbage", errors.New(strings.Repeat("ж\xff", 500)), true, true, KindBody, "…"},
	} {
		came := &progress{connected: tc.connected}
		came.answered.Store(tc.answered)
		kind, detail := classify(tc.err, to, time.Second, came)
		if kind != tc.kind || !strings.Contains(detail, tc.says) {
			t.Errorf("%s: %q, %q; want %q and %q", tc.name, kind, detail, tc.kind, tc.says)
		}
		if len(detail) > 400 || storable(detail) != detail || strings.Contains(detail, "10.9.9.9") {
			t.Errorf("%s: the sentence is not fit to be shown: %q", tc.name, detail)
		}
	}
}

// The receiver stops: its kept connection closes, and the repeated request finds nobody.
func TestReceiverStopsBetweenAttempts(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	var serving sync.WaitGroup
	defer serving.Wait()
	serving.Go(func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in := bufio.NewReader(conn)
		readRequest(in)
		io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
		readRequest(in)
		listener.Close()
	})
	url := "http://" + listener.Addr().String()
	sender := newSender(t, Config{Guard: local})
	if out := sender.Send(t.Context(), newAttempt(url)); !out.OK() {
		t.Fatalf("%s: %s", out.Kind, out.Detail)
	}
	failed(t, sender.Send(t.Context(), newAttempt(url)), KindConnect, "refused the connection")
}
