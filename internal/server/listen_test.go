package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// newListening returns a running server that answers with the client's address.
func newListening(t *testing.T, o Options) *Server {
	t.Helper()
	o.Mounts = []Mount{{Prefix: "/who", API: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, httpapi.InfoFrom(r.Context()).Address.String())
	})}}
	o.Log, o.Registry = newTestLogger(io.Discard), prometheus.NewRegistry()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	run(t, s)
	return s
}

// unixClient returns a client that connects to a Unix socket whatever the URL says.
func unixClient(t *testing.T, path string) *http.Client {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func fetch(t *testing.T, c *http.Client, url, forwarded string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if forwarded != "" {
		r.Header.Set("X-Forwarded-For", forwarded)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// A Unix socket and several ports serve at once. Only a proxy can use the socket, so it
// is trusted.
func TestListensOnSeveralAddresses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "socket")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	_ = dead.Close() // as a killed server leaves it
	s := newListening(t, Options{Listen: []string{"127.0.0.1:0", "127.0.0.1:0", "unix:" + path}})
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	for _, l := range s.listeners[:2] {
		if _, body := fetch(t, &http.Client{Transport: transport}, "http://"+l.Addr().String()+"/who", "203.0.113.9"); body != "127.0.0.1" {
			t.Errorf("the client over TCP is %s", body)
		}
	}
	client := unixClient(t, path)
	for forwarded, want := range map[string]string{"": "127.0.0.1", "203.0.113.9": "203.0.113.9", "10.0.0.1, 203.0.113.9": "203.0.113.9"} {
		if _, body := fetch(t, client, "http://socket/who", forwarded); body != want {
			t.Errorf("the client behind %q is %s, want %s", forwarded, body, want)
		}
	}
	if status, _ := fetch(t, client, "http://socket/metrics", ""); status != 200 {
		t.Errorf("metrics for this machine: %d", status)
	}
	if status, _ := fetch(t, client, "http://socket/metrics", "203.0.113.9"); status != 403 {
		t.Errorf("metrics for a stranger behind the proxy: %d", status)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("the socket: %v, %v, want mode 0660", info, err)
	}
	for address, want := range map[string]string{
		"unix:" + path: "in use by another program", "unix:" + filepath.Dir(path): "not a socket", "systemd": "no socket",
	} {
		if _, err := listen(address, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

// writeCertificate writes a self-signed certificate for this machine.
func writeCertificate(t *testing.T, certFile, keyFile, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A renewed certificate is used without a restart; files that do not fit together are
// not.
func TestCertificateIsReplacedWhileServing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, certFile, keyFile, "one.example")
	s := newListening(t, Options{Listen: []string{"127.0.0.1:0"}, TLSCert: certFile, TLSKey: keyFile})
	presented := func() string {
		c, err := tls.Dial("tcp", s.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		return c.ConnectionState().PeerCertificates[0].Subject.CommonName
	}
	if got := presented(); got != "one.example" {
		t.Errorf("presented %s", got)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	if status, body := fetch(t, &http.Client{Transport: transport}, "https://"+s.Addr().String()+"/who", ""); status != 200 || body != "127.0.0.1" {
		t.Errorf("a request over https: %d %s", status, body)
	}
	if err := os.WriteFile(keyFile, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(certificateCheck)
	if got := presented(); got != "one.example" {
		t.Errorf("presented %s while the files do not fit", got)
	}
	writeCertificate(t, certFile, keyFile, "two.example")
	for deadline := time.Now().Add(20 * time.Second); presented() != "two.example"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the new certificate is not used")
		}
	}
	if _, err := tlsConfig(certFile, filepath.Join(dir, "missing"), s.options.Log); err == nil {
		t.Error("a missing key was accepted")
	}
}
