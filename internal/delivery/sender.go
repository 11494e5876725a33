package delivery

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// The headers of a delivery, in addition to Content-Type and User-Agent.
const (
	HeaderEvent             = "X-Service-Event"
	HeaderDelivery          = "X-Service-Delivery"
	HeaderAttempt           = "X-Service-Attempt"
	HeaderSequence          = "X-Service-Sequence"
	HeaderTest              = "X-Service-Test" // marks an event that reports nothing that happened
	HeaderSignature         = "X-Service-Signature"
	HeaderSignaturePrevious = "X-Service-Signature-Previous"
	HeaderWebhookID         = "webhook-id"
	HeaderWebhookTimestamp  = "webhook-timestamp"
	HeaderWebhookSignature  = "webhook-signature"
)

// DefaultTimeout is the contract's: an attempt that is not done by then has failed.
const DefaultTimeout = 10 * time.Second

// readBody bounds what is read of a response. A 2xx that goes on beyond it is a success: the receiver has answered,
// and the rest is not needed.
const readBody = 64 << 10

// Config sets a Sender up.
type Config struct {
	Guard     Guard
	UserAgent string         // coursebridge if empty
	Timeout   time.Duration  // of an attempt as a whole; DefaultTimeout if 0
	RootCAs   *x509.CertPool // nil: the system's

	// Proxy picks the proxy of a request, as http.ProxyFromEnvironment does; nil means none, whatever the
	// environment says. Through a proxy, the guard sees the names that resolve here, not what the proxy dials.
	Proxy func(*http.Request) (*url.URL, error)

	Now func() time.Time // time.Now if nil

	Tracer trace.Tracer // makes a span of each attempt; nil makes none
}

// Sender sends single attempts. It is safe for use by any number of goroutines, which share its connections.
type Sender struct {
	config  Config
	direct  *http.Transport
	proxied *http.Transport // nil without Config.Proxy
}

// NewSender returns a sender. Close it after use.
func NewSender(c Config) *Sender {
	c.UserAgent = cmp.Or(c.UserAgent, "coursebridge")
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &Sender{config: c}
	s.direct = newTransport(&s.config, false)
	if c.Proxy != nil {
		s.proxied = newTransport(&s.config, true)
	}
	return s
}

// Close ends the idle connections. It is called after the last Send and may be called twice.
func (s *Sender) Close() {
	s.direct.CloseIdleConnections()
	if s.proxied != nil {
		s.proxied.CloseIdleConnections()
	}
}

// Request is one attempt at a delivery. Body must not change until Send returns.
type Request struct {
	URL            string
	DeliveryID     string
	Event          string
	Attempt        int   // from 1
	Sequence       int64 // 0 marks a test event, which reports nothing that happened
	Body           []byte
	Secret         *Secret                // nothing is sent without
	RetiredSecrets []domain.RetiredSecret // those that rotations replaced; each signs until its end
	Headers        domain.Headers         // the company's own; the log masks their values

	// Written is called once the request has been written, perhaps again if it had to
	// be written again; nil is fine.
	Written func()
}

// Send makes one attempt and returns its outcome. Cancelling ctx ends it with KindAborted, unless the answer is
// complete by then.
func (s *Sender) Send(ctx context.Context, r Request) Outcome {
	begun := time.Now()
	out := Outcome{StartedAt: s.config.Now()}
	end := func(*Outcome) {}
	if s.config.Tracer != nil {
		ctx, end = s.beginSpan(ctx, &r)
	}
	s.attempt(ctx, &r, &out)
	end(&out)
	out.Duration = time.Since(begun)
	return out
}

func (s *Sender) attempt(ctx context.Context, r *Request, out *Outcome) {
	to, err := s.config.Guard.parse(r.URL)
	if err != nil {
		out.fail(KindBlocked, err.Error())
		return
	}
	headers, err := s.headers(r, out.StartedAt)
	if err != nil {
		out.fail(KindInternal, "The request could not be made, as "+err.Error()+"; tell the operator of this service.")
		return
	}
	if s.config.Tracer != nil {
		headers = append(headers, traceHeaders(ctx)...)
	}
	out.RequestHeaders = append(domain.Headers{
		{Name: "Host", Value: to.url.Host},
		{Name: "Content-Length", Value: strconv.Itoa(len(r.Body))},
	}, headers...)
	for _, h := range r.Headers {
		out.RequestHeaders = append(out.RequestHeaders, domain.Header{Name: h.Name, Value: domain.HeaderMask})
	}
	headers = append(headers, r.Headers...)

	timed, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	if err := s.exchange(timed, to, headers, r, out); err != nil && errors.Is(ctx.Err(), context.Canceled) {
		out.fail(KindAborted, "The attempt was cut short; it does not count.")
	}
}

// exchange sends the request, reads the answer and sets the outcome. An error means that the exchange was not complete.
func (s *Sender) exchange(ctx context.Context, to *target, headers domain.Headers, r *Request, out *Outcome) error {
	var came progress
	trace := &httptrace.ClientTrace{
		GetConn:              func(string) { came.connected = false }, // again, if a kept connection was closed
		GotConn:              func(httptrace.GotConnInfo) { came.connected = true },
		GotFirstResponseByte: func() { came.answered.Store(true) },
	}
	if r.Written != nil {
		trace.WroteRequest = func(httptrace.WroteRequestInfo) { r.Written() }
	}
	ctx = httptrace.WithClientTrace(ctx, trace)
	req := newRequest(ctx, to.url, headers, r.Body)
	transport, err := s.route(ctx, req)
	var resp *http.Response
	if err == nil {
		resp, err = transport.RoundTrip(req)
	}
	if err != nil {
		out.fail(classify(err, to, s.config.Timeout, &came))
		return err
	}
	defer resp.Body.Close()
	out.StatusCode = resp.StatusCode
	out.ResponseHeaders = flatten(resp.Header)
	if resp.StatusCode != http.StatusSwitchingProtocols { // its body is the bare connection
		out.ResponseBody, err = readAnswer(resp)
	}
	out.judge(resp, err, to, s.config.Timeout)
	return err
}

// route picks the connections that the request goes through.
func (s *Sender) route(ctx context.Context, req *http.Request) (*http.Transport, error) {
	if s.proxied == nil {
		return s.direct, nil
	}
	proxy, err := s.config.Proxy(req)
	if err != nil {
		return nil, fmt.Errorf("choose proxy: %w", err)
	}
	if proxy == nil {
		return s.direct, nil
	}
	err = s.config.Guard.CheckURL(ctx, req.URL.String())
	if refused, ok := errors.AsType[*TargetError](err); ok && refused.Kind != TargetDNS {
		return nil, err
	}
	return s.proxied, nil // a name that only the proxy can resolve is the proxy's to judge
}

// headers lists what is sent, in the order in which the log shows it.
func (s *Sender) headers(r *Request, at time.Time) (domain.Headers, error) {
	if !isHeaderValue(r.Event) || !isHeaderValue(r.DeliveryID) {
		return nil, errors.New("its event or delivery id does not fit into a header")
	}
	signed, err := Sign(Message{DeliveryID: r.DeliveryID, At: at, Body: r.Body, Secret: r.Secret, RetiredSecrets: r.RetiredSecrets})
	if err != nil {
		return nil, err
	}
	h := make(domain.Headers, 0, 12)
	h = append(h,
		domain.Header{Name: "Content-Type", Value: "application/json"},
		domain.Header{Name: "User-Agent", Value: s.config.UserAgent},
		domain.Header{Name: HeaderEvent, Value: r.Event},
		domain.Header{Name: HeaderDelivery, Value: r.DeliveryID},
		domain.Header{Name: HeaderAttempt, Value: strconv.Itoa(r.Attempt)},
		domain.Header{Name: HeaderSignature, Value: signed.Service},
	)
	if r.Sequence != 0 {
		h = append(h, domain.Header{Name: HeaderSequence, Value: strconv.FormatInt(r.Sequence, 10)})
	} else {
		h = append(h, domain.Header{Name: HeaderTest, Value: "true"})
	}
	if signed.Previous != "" {
		h = append(h, domain.Header{Name: HeaderSignaturePrevious, Value: signed.Previous})
	}
	return append(h,
		domain.Header{Name: HeaderWebhookID, Value: r.DeliveryID},
		domain.Header{Name: HeaderWebhookTimestamp, Value: strconv.FormatInt(at.Unix(), 10)},
		domain.Header{Name: HeaderWebhookSignature, Value: signed.Standard},
	), nil
}

func isHeaderValue(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

func newRequest(ctx context.Context, u *url.URL, headers domain.Headers, body []byte) *http.Request {
	header := make(http.Header, len(headers)+1)
	values := make([]string, len(headers))
	for i, line := range headers {
		values[i] = line.Value
		header[line.Name] = values[i : i+1 : i+1]
	}
	// A delivery can be repeated, as its id tells receivers. An empty key marks the request as repeatable and is not sent:
	// if a kept connection turns out to be closed, the request goes out again on a fresh one.
	header["Idempotency-Key"] = nil
	req := &http.Request{
		Method:        http.MethodPost,
		URL:           u,
		Host:          u.Host,
		Header:        header,
		ContentLength: int64(len(body)),
		Body:          http.NoBody,
		Proto:         "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if len(body) > 0 {
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		req.Body, _ = req.GetBody()
	}
	return req.WithContext(ctx)
}

// readAnswer reads the body up to its limit and returns what the log keeps of it. Reading to the end lets the next
// attempt use the connection; past the limit, closing the body closes the connection.
func readAnswer(resp *http.Response) ([]byte, error) {
	if resp.ContentLength == 0 {
		return nil, nil
	}
	kept, err := io.ReadAll(io.LimitReader(resp.Body, keptBody))
	if err != nil || len(kept) < keptBody {
		return kept, err
	}
	_, err = io.CopyN(io.Discard, resp.Body, readBody-keptBody)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return kept, err
}
