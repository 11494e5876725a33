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

// stopWithin is the documented limit of 10 s for a stop, plus a margin for a busy
// machine.
const stopWithin = 10*time.Second + 1500*time.Millisecond

var stopSignals = map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT}

// heldRequest is a request whose body the test holds back, so that its handler
// keeps running until release.
type heldRequest struct {
	conn net.Conn
	body string
}

func holdRequest(t *testing.T, acme company, base, externalID string) *heldRequest {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	body := fmt.Sprintf(`{"externalId":%q,"email":"%s@acme.example","name":"Held"}`, externalID, externalID)
	head := fmt.Sprintf("POST /api/v1/employees/provision HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n"+
		"Expect: 100-continue\r\n\r\n", acme.token, len(body))
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	// The server answers 100 once the handler reads the body: now it is running.
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, " 100 ") {
		t.Fatalf("the server did not answer 100 Continue: %q, %v", line, err)
	}
	return &heldRequest{conn, body}
}

// release sends the body and returns the status of the answer.
func (p *heldRequest) release(t *testing.T) int {
	t.Helper()
	if _, err := io.WriteString(p.conn, p.body); err != nil {
		t.Fatal("send the held body:", err)
	}
	in := bufio.NewReader(p.conn)
	for blank := false; !blank; { // skip the rest of the 100 response
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

func TestStoppingFinishesRunningRequests(t *testing.T) {
	t.Parallel()
	for name, signal := range stopSignals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachEngine(t, func(t *testing.T, database string) { checkGracefulStop(t, database, signal) })
		})
	}
}

func checkGracefulStop(t *testing.T, database string, signal syscall.Signal) {
	t.Helper()
	acme := newCompany(t, database)
	proceed := make(chan struct{})
	inbox := newReceiver(t, func(_ *receiver, w http.ResponseWriter, _ arrival) {
		<-proceed
		w.WriteHeader(http.StatusNoContent)
	})
	acme.addWebhook(t, inbox.URL)
	server := serve(t, database)
	acme.provision(t, server.url, "told")
	inbox.waitFor(t, timeout, "told", 1)
	held := holdRequest(t, acme, server.url, "held")
	server.signal(t, signal)
	eventually(t, timeout, "the server stops listening", func() error {
		conn, err := net.Dial("tcp", strings.TrimPrefix(server.url, "http://"))
		if err == nil {
			_ = conn.Close()
			return errors.New("it still accepts connections")
		}
		return nil
	})
	close(proceed)
	if status := held.release(t); status != http.StatusOK {
		t.Errorf("the running request was answered with %d", status)
	}
	server.wantExit(t, stopWithin)

	again := serve(t, database)
	if !acme.hasEmployee(t, again.url, "held") {
		t.Error("the running request was acknowledged, but its change is lost")
	}
	inbox.waitFor(t, timeout, "held", 1)
	if got, _ := inbox.all(); countSubject(got, "told") != 1 {
		t.Errorf("the running attempt was made %d times: its outcome was not recorded", countSubject(got, "told"))
	}
}

// The program stops in time although a client never sends its body and a receiver
// never answers.
func TestStoppingCutsOffHangingRequests(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		acme := newCompany(t, database)
		inbox := newReceiver(t, hang)
		acme.addWebhook(t, inbox.URL)
		server := serve(t, database, "--webhook-timeout", "60s")
		acme.provision(t, server.url, "stuck")
		inbox.waitFor(t, timeout, "stuck", 1)
		holdRequest(t, acme, server.url, "never")
		began := time.Now()
		server.signal(t, syscall.SIGTERM)
		server.wantExit(t, stopWithin)
		t.Logf("ended after %s", time.Since(began).Round(time.Millisecond))

		serve(t, database)
		twice := inbox.waitFor(t, timeout, "stuck", 2)
		if twice[0].delivery != twice[1].delivery || twice[1].attempt != "1" {
			t.Errorf("the interrupted attempt was counted: %+v", twice[1])
		}
	})
}

// A second signal does no harm.
func TestStoppingTwice(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		server := serve(t, database)
		server.signal(t, syscall.SIGTERM)
		_ = server.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
		server.wantExit(t, stopWithin)
	})
}

// A database that does not respond must not keep the program from ending.
func TestStoppingWhileTheDatabaseHangs(t *testing.T) {
	t.Parallel()
	direct := postgresDatabase(t)
	acme := newCompany(t, direct)
	database, line := behindProxy(t, direct)
	server := serve(t, database)
	acme.provision(t, server.url, "before")
	line.freeze()
	hung := make(chan struct{})
	go func() { // a request that waits for the database; it may be answered or cut off
		defer close(hung)
		_, _ = acme.send(t.Context(), http.MethodGet, server.url+"/api/v1/employees/before", nil)
	}()
	began := time.Now()
	server.signal(t, syscall.SIGTERM)
	server.wantExit(t, stopWithin)
	t.Logf("ended after %s", time.Since(began).Round(time.Millisecond))
	<-hung
}

// SIGHUP, which would kill a program that does not handle it, is ignored.
func TestHangupIsIgnored(t *testing.T) {
	t.Parallel()
	server := serve(t, sqliteDatabase(t))
	server.signal(t, syscall.SIGHUP)
	if status, err := probe(newClient(t), server.url+"/healthz"); err != nil || status != http.StatusOK {
		t.Errorf("/healthz after SIGHUP: %d, %v", status, err)
	}
	server.signal(t, syscall.SIGTERM)
	server.wantExit(t, stopWithin)
}
