package delivery

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// newTLSReceiver serves with a self-signed certificate for hooks.test, and returns the pool that trusts it.
func newTLSReceiver(t *testing.T, notAfter time.Time, handler http.HandlerFunc) (*httptest.Server, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		DNSNames:     []string{"hooks.test"},
		NotBefore:    notAfter.AddDate(-1, 0, 0),
		NotAfter:     notAfter,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(certificate)
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, pool
}

// resolveToSelf resolves hooks.test and other.test to this machine.
func resolveToSelf(t *testing.T) Guard {
	t.Helper()
	guard := local
	guard.Resolver, _ = newResolver(t, map[string][]netip.Addr{
		"hooks.test": addrs("127.0.0.1"),
		"other.test": addrs("127.0.0.1"),
	})
	return guard
}

func named(server *httptest.Server, host string) string {
	return strings.Replace(server.URL, "127.0.0.1", host, 1)
}

func TestTLS(t *testing.T) {
	t.Parallel()
	next := time.Now().AddDate(0, 1, 0)
	protocols := make(chan string, 2)
	receiver, trusted := newTLSReceiver(t, next, func(w http.ResponseWriter, r *http.Request) {
		protocols <- r.Proto
		io.Copy(w, r.Body)
	})
	sender := newSender(t, Config{Guard: resolveToSelf(t), RootCAs: trusted})
	for range 2 {
		out := sender.Send(t.Context(), newAttempt(named(receiver, "hooks.test")))
		if !out.OK() || string(out.ResponseBody) != signedBody {
			t.Fatalf("%s: %s", out.Kind, out.Detail)
		}
		if got := <-protocols; got != "HTTP/2.0" {
			t.Errorf("protocol %s", got)
		}
	}
}

func TestTLSCertificateFailures(t *testing.T) {
	t.Parallel()
	next := time.Now().AddDate(0, 1, 0)
	for _, tc := range []struct {
		name, host string
		trust      bool
		notAfter   time.Time
		says       string
	}{
		{"unknown authority", "hooks.test", false, next, "not signed by a known authority"},
		{"expired", "hooks.test", true, time.Date(2024, 5, 17, 0, 0, 0, 0, time.UTC), "17 May 2023 to 17 May 2024"},
		{"wrong host", "other.test", true, next, "is for hooks.test, not for other.test"},
		{"address", "127.0.0.1", true, next, "not for 127.0.0.1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			receiver, pool := newTLSReceiver(t, tc.notAfter, func(http.ResponseWriter, *http.Request) {
				t.Error("the receiver was called")
			})
			if !tc.trust {
				pool = x509.NewCertPool()
			}
			sender := newSender(t, Config{Guard: resolveToSelf(t), RootCAs: pool})
			failed(t, sender.Send(t.Context(), newAttempt(named(receiver, tc.host))), KindTLS, tc.says)
		})
	}
}

func TestTLSHandshakeFailures(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		handle func(int, *net.TCPConn)
		says   string
	}{
		"plain http": {func(_ int, conn *net.TCPConn) {
			io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
			io.Copy(io.Discard, conn)
		}, "does not speak TLS"},
		"hang up": {func(_ int, conn *net.TCPConn) {
			conn.Read(make([]byte, 1))
			conn.SetLinger(0)
		}, "closed the connection during the TLS handshake"},
		"alert": {func(_ int, conn *net.TCPConn) {
			conn.Write([]byte{21, 3, 3, 0, 2, 2, 40})
			io.Copy(io.Discard, conn)
		}, "handshake failure"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := strings.Replace(newRawReceiver(t, tc.handle), "http:", "https:", 1)
			failed(t, newSender(t, Config{Guard: local}).Send(t.Context(), newAttempt(url)), KindTLS, tc.says)
		})
	}
}

func TestTLSBodyBreaksOffOverHTTP2(t *testing.T) {
	t.Parallel()
	receiver, trusted := newTLSReceiver(t, time.Now().AddDate(0, 1, 0), func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "half")
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	sender := newSender(t, Config{Guard: resolveToSelf(t), RootCAs: trusted})
	failed(t, sender.Send(t.Context(), newAttempt(named(receiver, "hooks.test"))), KindBody, "broke off")
}

func TestTLSReceiverHangsOverHTTP2(t *testing.T) {
	t.Parallel()
	receiver, trusted := newTLSReceiver(t, time.Now().AddDate(0, 1, 0), func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	})
	sender := newSender(t, Config{Guard: resolveToSelf(t), RootCAs: trusted, Timeout: time.Second})
	failed(t, sender.Send(t.Context(), newAttempt(named(receiver, "hooks.test"))), KindTimeout, "did not answer within 1s")
}
