package delivery

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

const (
	maxResponseHeaders = 64 << 10
	idlePerHost        = 32
	idleTotal          = 2048

	// Shorter than the keep-alive of most receivers, so that it is this side which closes a quiet connection.
	idleTimeout = 30 * time.Second
)

// newTransport builds the connection pool that all attempts share. A transport whose proxy is nil dials receivers
// through the guard. One with a proxy dials only the proxy, which the operator chose and the guard has no say in.
func newTransport(c *Config, proxied bool) *http.Transport {
	config := &tls.Config{
		RootCAs:            c.RootCAs,
		MinVersion:         tls.VersionTLS12,
		NextProtos:         []string{"h2", "http/1.1"},
		ClientSessionCache: tls.NewLRUClientSessionCache(idleTotal),
	}
	t := &http.Transport{
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    c.Timeout,
		DisableCompression:     true, // the log keeps what the receiver sent, and no small answer unfolds into a big one
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           idleTotal,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxResponseHeaders,
		// A timeout ends an HTTP/1 connection but only a stream of HTTP/2: without pings, a dead connection would
		// fail every attempt that shares it.
		HTTP2: &http.HTTP2Config{SendPingTimeout: c.Timeout, PingTimeout: c.Timeout / 2},
	}
	if proxied {
		t.Proxy = c.Proxy
		t.DialContext = (&net.Dialer{Timeout: c.Timeout}).DialContext
		return t
	}
	dialer := c.Guard.Dialer(c.Timeout)
	t.DialContext = dialer.DialContext
	t.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		return dialTLS(ctx, dialer, config, network, addr)
	}
	return t
}

// dialTLS does what the transport would do, and marks a failed handshake as such. Dials outlive the request that
// began them, as the next one may use the connection, so they have their own timeout.
func dialTLS(ctx context.Context, d *net.Dialer, config *tls.Config, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	raw, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		raw.Close()
		return nil, err
	}
	config = config.Clone()
	config.ServerName = host
	conn := tls.Client(raw, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, &tlsError{err}
	}
	return conn, nil
}
