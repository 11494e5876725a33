package delivery

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// impatience is the timeout of tests that wait for it.
const impatience = 500 * time.Millisecond

// newRawReceiver hands every connection to handle, with its number from 1, and returns the receiver's URL. The
// connection is closed when handle returns.
func newRawReceiver(t *testing.T, handle func(number int, conn *net.TCPConn)) string {
	t.Helper()
	listener := listen(t)
	var serving sync.WaitGroup
	t.Cleanup(func() {
		listener.Close()
		serving.Wait()
	})
	serving.Go(func() {
		for number := 1; ; number++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				handle(number, conn.(*net.TCPConn))
			})
		}
	})
	return "http://" + listener.Addr().String()
}

// readRequest reads one request and returns its body.
func readRequest(in *bufio.Reader) (string, error) {
	r, err := http.ReadRequest(in)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(r.Body)
	return string(body), err
}

// answering reads the request and writes text as the answer.
func answering(text string) func(int, *net.TCPConn) {
	return func(_ int, conn *net.TCPConn) {
		if _, err := readRequest(bufio.NewReader(conn)); err == nil {
			io.WriteString(conn, text)
		}
	}
}

func TestReceiverHangs(t *testing.T) {
	t.Parallel()
	url := newRawReceiver(t, func(_ int, conn *net.TCPConn) { io.Copy(io.Discard, conn) })
	out := newSender(t, Config{Guard: local, Timeout: impatience}).Send(t.Context(), newAttempt(url))
	failed(t, out, KindTimeout, "did not answer within 500ms")
	if out.Duration < impatience {
		t.Errorf("gave up after %v", out.Duration)
	}
}

func TestReceiverHangsDuringHandshake(t *testing.T) {
	t.Parallel()
	url := newRawReceiver(t, func(_ int, conn *net.TCPConn) { io.Copy(io.Discard, conn) })
	url = strings.Replace(url, "http:", "https:", 1)
	out := newSender(t, Config{Guard: local, Timeout: impatience}).Send(t.Context(), newAttempt(url))
	failed(t, out, KindTimeout, "No connection")
}

func TestReceiverDrips(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]string{
		"headers": "HTTP/1.1 200 OK\r\nX-Slow: ",
		"body":    "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := newRawReceiver(t, func(_ int, conn *net.TCPConn) {
				answering(start)(0, conn)
				tick := time.NewTicker(5 * time.Millisecond)
				defer tick.Stop()
				for range tick.C {
					if _, err := io.WriteString(conn, "x"); err != nil {
						return
					}
				}
			})
			out := newSender(t, Config{Guard: local, Timeout: impatience}).Send(t.Context(), newAttempt(url))
			failed(t, out, KindTimeout, "within 500ms")
			if out.Duration > 50*impatience {
				t.Errorf("held up for %v", out.Duration)
			}
		})
	}
}

func TestReceiverResets(t *testing.T) {
	t.Parallel()
	url := newRawReceiver(t, func(_ int, conn *net.TCPConn) {
		readRequest(bufio.NewReader(conn))
		conn.SetLinger(0)
	})
	out := newSender(t, Config{Guard: local}).Send(t.Context(), newAttempt(url))
	failed(t, out, KindConnect, "closed the connection before it answered")
}

func TestReceiverHalfClosesWithoutAnswer(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(*net.TCPConn){
		"at once":           func(*net.TCPConn) {},
		"after the request": func(conn *net.TCPConn) { readRequest(bufio.NewReader(conn)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := newRawReceiver(t, func(_ int, conn *net.TCPConn) {
				before(conn)
				conn.CloseWrite()
				io.Copy(io.Discard, conn)
			})
			out := newSender(t, Config{Guard: local}).Send(t.Context(), newAttempt(url))
			failed(t, out, KindConnect, "closed the connection before it answered")
		})
	}
}

func TestReceiverHalfClosesAfterAnswer(t *testing.T) {
	t.Parallel()
	url := newRawReceiver(t, func(_ int, conn *net.TCPConn) {
		readRequest(bufio.NewReader(conn))
		io.WriteString(conn, "HTTP/1.0 200 OK\r\n\r\ndone")
		conn.CloseWrite()
		io.Copy(io.Discard, conn)
	})
	out := newSender(t, Config{Guard: local}).Send(t.Context(), newAttempt(url))
	if !out.OK() || string(out.ResponseBody) != "done" {
		t.Errorf("kind %q, body %q", out.Kind, out.ResponseBody)
	}
}

func TestReceiverAnswersGarbage(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"another protocol":  "SSH-2.0-OpenSSH_9.2\r\n\r\n",
		"binary":            "\x00\xff\xfe\x01\x02\r\n\r\n",
		"bad status":        "HTTP/1.1 abc OK\r\n\r\n",
		"bad header":        "HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
		"bad length":        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
		"two lengths":       "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
		"bad chunk":         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"body breaks off":   "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
		"chunks break off":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
		"too large headers": "HTTP/1.1 200 OK\r\nX-Big: " + strings.Repeat("x", 100<<10) + "\r\n\r\n",
		"status breaks off": "HTTP/1.1 20",
		"endless interim":   strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 10_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := newRawReceiver(t, answering(answer))
			out := newSender(t, Config{Guard: local}).Send(t.Context(), newAttempt(url))
			failed(t, out, KindBody, "127.0.0.1")
			if strings.Contains(out.Detail, "\x00") || strings.Contains(out.Detail, "\xff") {
				t.Errorf("detail carries raw bytes: %q", out.Detail)
			}
		})
	}
}

func TestReceiverSwitchesProtocols(t *testing.T) {
	t.Parallel()
	url := newRawReceiver(t, func(number int, conn *net.TCPConn) {
		answering("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")(number, conn)
		io.Copy(io.Discard, conn)
	})
	out := newSender(t, Config{Guard: local}).Send(t.Context(), newAttempt(url))
	failed(t, out, KindStatus, "101")
}

func TestReceiverAnswersFiveGigabytes(t *testing.T) {
	t.Parallel()
	const size = 5 << 30
	var sent atomic.Int64
	receiver := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(size))
		chunk := make([]byte, 64<<10)
		for sent.Load() < size {
			n, err := w.Write(chunk)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
	out := newSender(t, Config{Guard: local}).Send(t.Context(), newAttempt(receiver.URL))
	if !out.OK() || len(out.ResponseBody) != 8<<10 {
		t.Errorf("kind %q, kept %d bytes; a 2xx of any length is a success", out.Kind, len(out.ResponseBody))
	}
	receiver.Close() // returns once the handler has
	if got := sent.Load(); got > 100<<20 {
		t.Errorf("%d bytes were taken from the receiver", got)
	}
}

func TestReceiverSendsLongHeaders(t *testing.T) {
	t.Parallel()
	value := strings.Repeat("я", 20<<10)
	url := newRawReceiver(t, answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"+
		"A-Latin: caf\xe9\r\nB-Long: "+value+"\r\nC-Late: lost\r\n\r\n"))
	out := newSender(t, Config{Guard: local}).Send(t.Context(), newAttempt(url))
	if !out.OK() {
		t.Fatalf("%s: %s", out.Kind, out.Detail)
	}
	size := 0
	for _, line := range out.ResponseHeaders {
		size += len(line.Name) + len(line.Value)
		if storable(line.Value) != line.Value {
			t.Errorf("%s cannot be stored", line.Name)
		}
	}
	if size > 16<<10 || size < 15<<10 || !strings.HasPrefix(value, out.ResponseHeaders.Get("B-Long")) {
		t.Errorf("kept %d bytes of headers", size)
	}
	if got := out.ResponseHeaders.Get("A-Latin"); got != "caf\uFFFD" {
		t.Errorf("A-Latin: %q", got)
	}
}

func TestReceiverRefusesConnections(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	listener.Close()
	out := newSender(t, Config{Guard: local}).Send(t.Context(), newAttempt("http://"+listener.Addr().String()))
	failed(t, out, KindConnect, listener.Addr().String()+" refused the connection")
}

func TestReceiverWithoutAddress(t *testing.T) {
	t.Parallel()
	guard := local
	guard.Resolver, _ = newResolver(t, nil)
	out := newSender(t, Config{Guard: guard}).Send(t.Context(), newAttempt("https://hooks.missing.test/"))
	failed(t, out, KindDNS, "No address was found for hooks.missing.test")
}

func TestReceiverChangesItsAddressAfterTheCheck(t *testing.T) {
	t.Parallel()
	var called atomic.Bool
	receiver := newReceiver(t, func(http.ResponseWriter, *http.Request) { called.Store(true) })
	resolver, names := newResolver(t, map[string][]netip.Addr{"rebind.test": addrs("8.8.8.8")})
	guard := Guard{AllowHTTP: true, Resolver: resolver}
	url := strings.Replace(receiver.URL, "127.0.0.1", "rebind.test", 1)
	if err := guard.CheckURL(t.Context(), url); err != nil {
		t.Fatalf("the check: %v", err)
	}
	names.set("rebind.test", addrs("127.0.0.1")...)
	out := newSender(t, Config{Guard: guard}).Send(t.Context(), newAttempt(url))
	failed(t, out, KindBlocked, "leads to an address that is not public")
	if called.Load() {
		t.Error("the internal receiver was called")
	}
}

func TestSendRefusesTargets(t *testing.T) {
	t.Parallel()
	sender := newSender(t, Config{Guard: Guard{AllowHTTP: true}})
	for _, url := range []string{
		"http://127.0.0.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[64:ff9b::7f00:1]/",
		"http://2130706433/", "http://0177.0.0.1/", "http://0x7f000001/", "http://169.254.169.254/", "ftp://a.test/", "",
	} {
		out := sender.Send(t.Context(), newAttempt(url))
		if out.Kind != KindBlocked || out.Detail == "" {
			t.Errorf("%s: kind %q, detail %q", url, out.Kind, out.Detail)
		}
	}
	strict := newSender(t, Config{})
	failed(t, strict.Send(t.Context(), newAttempt("http://8.8.8.8/")), KindBlocked, "plain http")
}

// A receiver may close a kept connection just as the next request goes out on it.
func TestReceiverClosesKeptConnection(t *testing.T) {
	t.Parallel()
	bodies := make(chan string, 3)
	url := newRawReceiver(t, func(number int, conn *net.TCPConn) {
		in := bufio.NewReader(conn)
		for request := 1; ; request++ {
			body, err := readRequest(in)
			if err != nil {
				return
			}
			bodies <- body
			if number == 1 && request == 2 {
				return
			}
			io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
		}
	})
	sender := newSender(t, Config{Guard: local})
	for range 2 {
		if out := sender.Send(t.Context(), newAttempt(url)); !out.OK() {
			t.Fatalf("%s: %s", out.Kind, out.Detail)
		}
	}
	sender.Close()
	got := []string{<-bodies, <-bodies, <-bodies}
	if diff := cmp.Diff([]string{signedBody, signedBody, signedBody}, got); diff != "" {
		t.Errorf("bodies (-want +got):\n%s", diff)
	}
}
