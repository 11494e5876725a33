package delivery

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Kind is one word for why an attempt failed.
type Kind string

// The failures of a receiver.
const (
	KindDNS      Kind = "dns"             // its name does not resolve
	KindConnect  Kind = "connect"         // no connection, or one that ended before an answer began
	KindTLS      Kind = "tls"             // the TLS handshake failed, its certificate included
	KindTimeout  Kind = "timeout"         // not done in time, whatever it hung on
	KindStatus   Kind = "status"          // an answer other than 2xx and 3xx
	KindRedirect Kind = "redirect"        // a 3xx, which is not followed
	KindBlocked  Kind = "blocked_address" // a target that the operator's rules do not allow
	KindBody     Kind = "body"            // an answer that is not whole or not HTTP
)

// The failures that say nothing about a receiver; see saysNothingOfReceiver.
const (
	KindAborted  Kind = "aborted"            // the caller's context was cancelled; the attempt does not count
	KindErased   Kind = domain.ErrorErased   // nothing was sent, as the person was erased
	KindInternal Kind = domain.ErrorInternal // the request could not be made, as its secret or a header is not usable
)

// saysNothingOfReceiver reports whether the attempt ended without a verdict on the receiver.
func (k Kind) saysNothingOfReceiver() bool {
	return k == KindAborted || k == KindErased || k == KindInternal
}

const maxQuoted = 200 // bytes of a foreign text in a sentence

// tlsError marks what failed in the handshake: the cause alone may be a plain EOF.
type tlsError struct{ err error }

func (e *tlsError) Error() string { return "TLS handshake: " + e.err.Error() }
func (e *tlsError) Unwrap() error { return e.err }

// progress is how far a round trip came. net/http's errors do not show it, not even by their types.
type progress struct {
	connected bool        // set on the goroutine of the round trip
	answered  atomic.Bool // set when the first byte of an answer is there
}

// classify turns a failed round trip into its kind and a sentence.
func classify(err error, t *target, timeout time.Duration, came *progress) (Kind, string) {
	if blocked, ok := errors.AsType[*TargetError](err); ok {
		return KindBlocked, blocked.Message
	}
	// Before the timeout: a lookup that timed out is a failure of the name's servers.
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return KindDNS, dnsDetail(t.host, dns)
	}
	if isTimeout(err) {
		if came.connected {
			return KindTimeout, fmt.Sprintf("%s took the connection but did not answer within %s; "+
				"answer 2xx first and do the work afterwards.", t.host, timeout)
		}
		return KindTimeout, fmt.Sprintf("No connection to %s within %s; check that the receiver runs and that "+
			"its firewall lets this service in.", t.hostPort(), timeout)
	}
	if isTLS(err) {
		return KindTLS, tlsDetail(err, t)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "proxyconnect" {
		return KindConnect, "The proxy of this service could not be reached; tell its operator."
	}
	if !came.connected {
		return KindConnect, connectDetail(err, t)
	}
	if !came.answered.Load() {
		return KindConnect, fmt.Sprintf("%s closed the connection before it answered; look for a crash or a limit "+
			"in the receiver or in the proxy before it.", t.host)
	}
	return KindBody, fmt.Sprintf("The answer of %s could not be read as HTTP (%s); check what listens on port %d.",
		t.host, shorten(innermost(err)), t.port)
}

func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	network, ok := errors.AsType[net.Error](err)
	return ok && network.Timeout()
}

// isTLS also knows the errors of handshakes that the transport makes itself, through a proxy.
func isTLS(err error) bool {
	if _, ok := errors.AsType[*tlsError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	_, ok := errors.AsType[tls.AlertError](err)
	return ok
}

// isBroken reports whether the connection went away, whatever it carried.
func isBroken(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) {
		return true
	}
	_, errno := errors.AsType[syscall.Errno](err)
	return errno
}

func connectDetail(err error, t *target) string {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("%s refused the connection; check that the receiver runs and listens on this port.",
			t.hostPort())
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return fmt.Sprintf("There is no route to %s; check the address behind the name.", t.hostPort())
	}
	return fmt.Sprintf("The connection to %s could not be made; check the receiver and its firewall.", t.hostPort())
}

func tlsDetail(err error, t *target) string {
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		const day = "2 January 2006"
		return fmt.Sprintf("The certificate of %s is valid from %s to %s only; renew it, or correct the clock.",
			t.host, invalid.Cert.NotBefore.UTC().Format(day), invalid.Cert.NotAfter.UTC().Format(day))
	}
	if name, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Sprintf("The certificate is for %s, not for %s; use a name that it covers, or install the right one.",
			certificateNames(name.Certificate), t.host)
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return fmt.Sprintf("The certificate of %s is not signed by a known authority; install one that is, "+
			"together with its intermediate certificates.", t.host)
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return fmt.Sprintf("%s does not speak TLS; check the port, or whether the URL should start with http://.",
			t.hostPort())
	}
	if isBroken(err) {
		return fmt.Sprintf("%s closed the connection during the TLS handshake; check its TLS versions and whether "+
			"it asks for a client certificate.", t.hostPort())
	}
	return fmt.Sprintf("No secure connection to %s (%s); check its TLS settings and certificate.",
		t.hostPort(), shorten(innermost(err)))
}

func certificateNames(cert *x509.Certificate) string {
	names := slices.Clone(cert.DNSNames)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "no host name"
	}
	return shorten(strings.Join(names, ", "))
}

// innermost is the text of the first cause: the layers around it name net/http's parts, not the receiver's.
func innermost(err error) string {
	for {
		cause := errors.Unwrap(err)
		if cause == nil {
			return err.Error()
		}
		err = cause
	}
}

// judge sets the verdict on an answer, from its status and from how reading its body ended.
func (o *Outcome) judge(resp *http.Response, bodyErr error, t *target, timeout time.Duration) {
	code := resp.StatusCode
	switch {
	case code >= 300 && code <= 399:
		o.fail(KindRedirect, redirectDetail(resp))
	case code < 200 || code > 299:
		o.fail(KindStatus, statusDetail(code))
	case bodyErr == nil:
		return
	case isTimeout(bodyErr):
		o.fail(KindTimeout, fmt.Sprintf("%s answered %d, but its body was not complete within %s; "+
			"an empty body is enough.", t.host, code, timeout))
	default:
		o.fail(KindBody, fmt.Sprintf("%s answered %d, but its body broke off; check its Content-Length and "+
			"the proxy before it.", t.host, code))
	}
	if o.Kind == KindStatus || o.Kind == KindRedirect {
		o.RetryAfter = ParseRetryAfter(resp.Header.Get("Retry-After"), o.StartedAt)
		o.Gone = code == http.StatusGone
	}
}

func redirectDetail(resp *http.Response) string {
	location := resp.Header.Get("Location")
	if location == "" {
		return fmt.Sprintf("The receiver answered %d; redirects are not followed, and only 2xx counts as received.",
			resp.StatusCode)
	}
	return fmt.Sprintf("The receiver answered %d and points to %s; redirects are not followed, so enter the final URL.",
		resp.StatusCode, shorten(location))
}

func statusDetail(code int) string {
	name := fmt.Sprint(code)
	if text := http.StatusText(code); text != "" {
		name += " " + text
	}
	return "The receiver answered " + name + "; " + statusAdvice(code)
}

func statusAdvice(code int) string {
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return "let these requests in without a login, and verify their signature instead."
	case code == http.StatusNotFound:
		return "check the path of the URL."
	case code == http.StatusMethodNotAllowed:
		return "the URL must accept POST."
	case code == http.StatusGone:
		return "that asks for no more deliveries."
	case code == http.StatusRequestEntityTooLarge:
		return "raise the receiver's limit on the size of request bodies."
	case code == http.StatusTooManyRequests:
		return "the next attempt waits at least as long as its Retry-After asks."
	case code >= 500:
		return "look into the receiver's log at this time."
	}
	return "only 2xx counts as received."
}
