package faults

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stopWithin is what the operator's side promises, and a little for the machine.
const stopWithin = 10*time.Second + 1500*time.Millisecond

var stopSignals = map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT}

// pending is a request whose body is held back, so that its handler runs as long
// as the test likes.
type pending struct {
	conn net.Conn
	rest string
}

func hold(t *testing.T, f firm, base, externalID string) *pending {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	body := fmt.Sprintf(`{"externalId":%q,"email":"%s@acme.example","name":"Held"}`, externalID, externalID)
	head := fmt.Sprintf("POST /api/v1/employees/provision HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n"+
		"Expect: 100-continue\r\n\r\n", f.token, len(body))
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	// The server says so once the handler reads the body: from here on it runs.
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, " 100 ") {
		t.Fatalf("the server does not ask for the body: %q, %v", line, err)
	}
	return &pending{conn, body}
}

// release sends the body and gives the answer's status.
func (p *pending) release(t *testing.T) int {
	t.Helper()
	if _, err := io.WriteString(p.conn, p.rest); err != nil {
		t.Fatal("send the held body:", err)
	}
	in := bufio.NewReader(p.conn)
	for blank := false; !blank; { // what is left of the 100
		next, err := in.Peek(4)
		if err != nil {
			t.Fatal("read the answer:", err)
		}
		if blank = string(next) == "HTTP"; !blank {
			if _, err := in.ReadString('\n'); err != nil {
				t.Fatal("read the answer:", err)
			}
		}
	}
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal("read the answer:", err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

func TestStoppingFinishesWhatRuns(t *testing.T) {
	t.Parallel()
	for name, signal := range stopSignals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, database string) { finishes(t, database, signal) })
		})
	}
}

func finishes(t *testing.T, database string, signal syscall.Signal) {
	t.Helper()
	f, caller := newFirm(t, database), newCaller(t)
	goOn := make(chan struct{})
	inbox := newReceiver(t, func(_ *receiver, w http.ResponseWriter, _ arrival) {
		<-goOn
		w.WriteHeader(http.StatusNoContent)
	})
	f.listen(t, inbox.URL)
	server := serve(t, database)
	f.join(t, caller, server.url, "told")
	inbox.about(t, patience, "told", 1)
	held := hold(t, f, server.url, "held")
	server.signal(t, signal)
	eventually(t, patience, "a closed door", func() error {
		conn, err := net.Dial("tcp", strings.TrimPrefix(server.url, "http://"))
		if err == nil {
			_ = conn.Close()
			return errors.New("it takes connections")
		}
		return nil
	})
	close(goOn)
	if status := held.release(t); status != http.StatusOK {
		t.Errorf("the request that ran was answered with %d", status)
	}
	server.wantExit(t, stopWithin)

	again := serve(t, database)
	if !f.has(t, caller, again.url, "held") {
		t.Error("the request that ran was acknowledged, and its change is gone")
	}
	inbox.about(t, patience, "held", 1)
	if got, _ := inbox.all(); countAbout(got, "told") != 1 {
		t.Errorf("the attempt that ran was made %d times: its outcome was not recorded", countAbout(got, "told"))
	}
}

// Neither a client that never sends its body nor a receiver that never answers
// keeps the program from ending.
func TestStoppingCutsOffWhatHangs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		f, caller := newFirm(t, database), newCaller(t)
		inbox := newReceiver(t, hang)
		f.listen(t, inbox.URL)
		server := serve(t, database, "--webhook-timeout", "60s")
		f.join(t, caller, server.url, "stuck")
		inbox.about(t, patience, "stuck", 1)
		hold(t, f, server.url, "never")
		began := time.Now()
		server.signal(t, syscall.SIGTERM)
		server.wantExit(t, stopWithin)
		t.Logf("ended after %s", time.Since(began).Round(time.Millisecond))

		serve(t, database)
		twice := inbox.about(t, patience, "stuck", 2)
		if twice[0].delivery != twice[1].delivery || twice[1].attempt != "1" {
			t.Errorf("the attempt that was cut short counts: %+v", twice[1])
		}
	})
}

// A second signal must not be needed, and does no harm.
func TestStoppingTwice(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		server := serve(t, database)
		server.signal(t, syscall.SIGTERM)
		_ = server.cmd.Process.Signal(syscall.SIGTERM) // it may be gone already
		server.wantExit(t, stopWithin)
	})
}
