package app

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// Health is the answer of a running server.
type Health struct {
	Status string `json:"status"` // always "ok": everything else is an error
}

func (h Health) String() string { return h.Status }

// healthTimeout is how long a server may take to answer.
const healthTimeout = 5 * time.Second

// CheckHealth asks the server that listens on an address of this machine whether it
// is ready. The address has the form of --listen. A server with a certificate of its
// own is asked over https, except on a Unix socket.
func CheckHealth(ctx context.Context, listen string, hasCertificate bool) (Health, error) {
	network, address, url := "tcp", listen, "http://localhost/readyz"
	if hasCertificate {
		url = "https://localhost/readyz"
	}
	if path, isSocket := strings.CutPrefix(listen, "unix:"); isSocket {
		network, address, url = "unix", path, "http://localhost/readyz"
	} else if host, port, err := net.SplitHostPort(listen); err != nil {
		return Health{}, fmt.Errorf("the address %q is not host:port or unix:/path: name the one that the server listens on with --listen", listen)
	} else if ip := net.ParseIP(host); host == "" || ip.Equal(net.IPv4zero) {
		address = net.JoinHostPort("127.0.0.1", port) // not localhost: an image may have no hosts file
	} else if ip.Equal(net.IPv6unspecified) {
		address = net.JoinHostPort("::1", port)
	}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, network, address)
		},
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // The certificate is for the public name, and nothing secret is sent.
	}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return Health{}, err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return Health{}, fmt.Errorf("no server answers on %s: %w; start coursebridge serve, or name its address with --listen", listen, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		reason, _ := io.ReadAll(io.LimitReader(response.Body, 1024))
		return Health{}, fmt.Errorf("the server on %s is not ready: %s; its log and /readyz?verbose have the details", listen, strings.TrimSpace(string(reason)))
	}
	return Health{Status: "ok"}, nil
}
