package delivery

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// patience is the timeout where the test is not about timing.
const patience = 20 * time.Second

var local = Guard{AllowPrivate: true, AllowHTTP: true}

func newSender(t testing.TB, c Config) *Sender {
	t.Helper()
	if c.Timeout == 0 {
		c.Timeout = patience
	}
	s := NewSender(c)
	t.Cleanup(s.Close)
	return s
}

func newReceiver(t testing.TB, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// parseSecret returns nil if the text is no secret.
func parseSecret(text string) *Secret {
	secret, _ := ParseSecret(text)
	return secret
}

// serviceSignature returns what X-Service-Signature must be.
func serviceSignature(body, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func newAttempt(url string) Request {
	return Request{
		URL:        url,
		DeliveryID: uuid.Must(uuid.NewV7()).String(),
		Event:      "employee.joined",
		Attempt:    1,
		Sequence:   7,
		Body:       []byte(signedBody),
		Secret:     parseSecret(NewSecret()),
	}
}

// failed checks the kind and the sentence of a failure.
func failed(t *testing.T, out Outcome, kind Kind, says string) {
	t.Helper()
	if out.Kind != kind || out.OK() || !strings.Contains(out.Detail, says) {
		t.Errorf("kind %q, detail %q; want kind %q and %q", out.Kind, out.Detail, kind, says)
	}
}

func TestSendReturnsWhatItSentAndGot(t *testing.T) {
	t.Parallel()
	type arrival struct {
		method, path, host, body string
		header                   http.Header
	}
	arrivals := make(chan arrival, 1)
	receiver := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		arrivals <- arrival{r.Method, r.URL.String(), r.Host, string(body), r.Header}
		w.Header()["Date"] = nil
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		w.WriteHeader(http.StatusAccepted)
		io.WriteString(w, "thanks")
	})
	at := time.Now().Truncate(time.Second)
	sender := newSender(t, Config{Guard: local, UserAgent: "coursebridge/1.2.3", Now: func() time.Time { return at }})
	attempt := newAttempt(receiver.URL + "/hook?key=a%20b")
	attempt.Attempt, attempt.RetiredSecrets = 3, retired(NewSecret())
	out := sender.Send(t.Context(), attempt)

	got := <-arrivals
	signed, err := Sign(Message{attempt.DeliveryID, at, attempt.Body, attempt.Secret, attempt.RetiredSecrets})
	if err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(receiver.URL, "http://")
	sent := domain.Headers{
		{Name: "Host", Value: host},
		{Name: "Content-Length", Value: fmt.Sprint(len(signedBody))},
		{Name: "Content-Type", Value: "application/json"},
		{Name: "User-Agent", Value: "coursebridge/1.2.3"},
		{Name: "X-Service-Event", Value: "employee.joined"},
		{Name: "X-Service-Delivery", Value: attempt.DeliveryID},
		{Name: "X-Service-Attempt", Value: "3"},
		{Name: "X-Service-Signature", Value: signed.Service},
		{Name: "X-Service-Sequence", Value: "7"},
		{Name: "X-Service-Signature-Previous", Value: signed.Previous},
		{Name: "webhook-id", Value: attempt.DeliveryID},
		{Name: "webhook-timestamp", Value: fmt.Sprint(at.Unix())},
		{Name: "webhook-signature", Value: signed.Standard},
	}
	want := arrival{"POST", "/hook?key=a%20b", host, signedBody, http.Header{}}
	for _, line := range sent[1:] {
		want.header.Set(line.Name, line.Value)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(arrival{})); diff != "" {
		t.Errorf("arrived (-want +got):\n%s", diff)
	}
	if out.Duration <= 0 {
		t.Errorf("duration %v", out.Duration)
	}
	out.Duration = 0
	logged := Outcome{
		StartedAt:      at,
		StatusCode:     202,
		RequestHeaders: sent,
		ResponseHeaders: domain.Headers{
			{Name: "Content-Length", Value: "6"}, {Name: "Content-Type", Value: "text/plain; charset=utf-8"}, {Name: "Set-Cookie", Value: "a=1"}, {Name: "Set-Cookie", Value: "b=2"},
		},
		ResponseBody: []byte("thanks"),
	}
	if diff := cmp.Diff(logged, out); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	if out.RequestHeaders.Get("Webhook-ID") != attempt.DeliveryID || out.RequestHeaders.Get("Nothing") != "" {
		t.Error("Headers.Get does not find headers by name")
	}
}

func TestSendIsVerifiedByStandardWebhooksLibrary(t *testing.T) {
	t.Parallel()
	attempt, secret := newAttempt(""), NewSecret()
	attempt.Secret = parseSecret(secret)
	receiver := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		verifier, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Error(err)
		}
		body, _ := io.ReadAll(r.Body)
		if err := verifier.Verify(body, r.Header); err != nil {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	attempt.URL = receiver.URL
	if out := newSender(t, Config{Guard: local}).Send(t.Context(), attempt); !out.OK() {
		t.Errorf("refused: %s", out.Detail)
	}
}

func TestSendStatus(t *testing.T) {
	t.Parallel()
	sender := newSender(t, Config{Guard: local})
	for _, tc := range []struct {
		code       int
		retryAfter string
		kind       Kind
		says       string
		wait       time.Duration
		gone       bool
	}{
		{code: 200},
		{code: 204},
		{code: 299},
		{code: 200, retryAfter: "60"},
		{code: 300, kind: KindRedirect, says: "300"},
		{code: 304, kind: KindRedirect, says: "304"},
		{code: 400, kind: KindStatus, says: "only 2xx"},
		{code: 401, kind: KindStatus, says: "without a login"},
		{code: 404, kind: KindStatus, says: "path"},
		{code: 405, kind: KindStatus, says: "POST"},
		{code: 410, kind: KindStatus, says: "no more deliveries", gone: true},
		{code: 413, kind: KindStatus, says: "size"},
		{code: 429, retryAfter: "120", kind: KindStatus, says: "Retry-After", wait: 2 * time.Minute},
		{code: 503, retryAfter: "999999", kind: KindStatus, says: "log", wait: 6 * time.Hour},
		{code: 500, kind: KindStatus, says: "500 Internal Server Error"},
		{code: 599, kind: KindStatus, says: "answered 599;"},
		{code: 999, kind: KindStatus, says: "answered 999;"},
	} {
		t.Run(fmt.Sprint(tc.code, tc.retryAfter), func(t *testing.T) {
			t.Parallel()
			receiver := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
				if tc.retryAfter != "" {
					w.Header().Set("Retry-After", tc.retryAfter)
				}
				w.WriteHeader(tc.code)
			})
			out := sender.Send(t.Context(), newAttempt(receiver.URL))
			if out.Kind != tc.kind || !strings.Contains(out.Detail, tc.says) || (out.Detail == "") != out.OK() {
				t.Errorf("kind %q, detail %q; want %q and %q", out.Kind, out.Detail, tc.kind, tc.says)
			}
			if out.StatusCode != tc.code || out.RetryAfter != tc.wait || out.Gone != tc.gone {
				t.Errorf("status %d, retry after %v, gone %t", out.StatusCode, out.RetryAfter, out.Gone)
			}
		})
	}
}

func TestSendDoesNotFollowRedirects(t *testing.T) {
	t.Parallel()
	var followed atomic.Bool
	internal := newReceiver(t, func(http.ResponseWriter, *http.Request) { followed.Store(true) })
	receiver := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, internal.URL+"/admin", http.StatusTemporaryRedirect)
	})
	out := newSender(t, Config{Guard: local}).Send(t.Context(), newAttempt(receiver.URL))
	failed(t, out, KindRedirect, internal.URL+"/admin")
	if followed.Load() {
		t.Error("the redirect was followed")
	}
}

func TestSendKeepsTheStartOfLongAnswers(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, keptBody - 1, keptBody, keptBody + 1, readBody, readBody + 1} {
		receiver := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, strings.Repeat("x", size))
		})
		out := newSender(t, Config{Guard: local}).Send(t.Context(), newAttempt(receiver.URL))
		if !out.OK() || len(out.ResponseBody) != min(size, 8<<10) {
			t.Errorf("size %d: kind %q, kept %d", size, out.Kind, len(out.ResponseBody))
		}
	}
}

func TestSendKeepsStatusWhenErrorPageBreaksOff(t *testing.T) {
	t.Parallel()
	receiver := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		w.WriteHeader(http.StatusBadGateway)
		io.WriteString(w, "half")
	})
	out := newSender(t, Config{Guard: local}).Send(t.Context(), newAttempt(receiver.URL))
	failed(t, out, KindStatus, "502")
	if string(out.ResponseBody) != "half" {
		t.Errorf("kept %q", out.ResponseBody)
	}
}

func TestSendAbortedDoesNotCount(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	receiver := newReceiver(t, func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		close(arrived)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	out := newSender(t, Config{Guard: local}).Send(ctx, newAttempt(receiver.URL))
	failed(t, out, KindAborted, "does not count")
}

func TestSendWithoutUsableParts(t *testing.T) {
	t.Parallel()
	var called atomic.Bool
	receiver := newReceiver(t, func(http.ResponseWriter, *http.Request) { called.Store(true) })
	sender := newSender(t, Config{Guard: local})
	for _, spoil := range []func(*Request){
		func(r *Request) { r.Secret = parseSecret("whsec_?") },
		func(r *Request) { r.RetiredSecrets = retired("old") },
		func(r *Request) { r.Event = "a\r\nX-Injected: b" },
		func(r *Request) { r.DeliveryID = "" },
	} {
		attempt := newAttempt(receiver.URL)
		spoil(&attempt)
		failed(t, sender.Send(t.Context(), attempt), KindInternal, "tell the operator")
	}
	if called.Load() {
		t.Error("a spoilt request was sent")
	}
}

func TestSendUsesProxyOnlyIfAsked(t *testing.T) {
	t.Parallel()
	var direct, proxied atomic.Int32
	receiver := newReceiver(t, func(http.ResponseWriter, *http.Request) { direct.Add(1) })
	proxy := newReceiver(t, func(http.ResponseWriter, *http.Request) { proxied.Add(1) })
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	if plain := newSender(t, Config{Guard: local}); plain.proxied != nil || plain.direct.Proxy != nil {
		t.Error("a sender has a proxy without being asked")
	}
	asked := newSender(t, Config{Guard: local, Proxy: func(r *http.Request) (*url.URL, error) {
		if r.URL.Path == "/direct" {
			return nil, nil
		}
		return address, nil
	}})
	for path, want := range map[string][2]int32{"/direct": {1, 0}, "/proxied": {0, 1}} {
		direct.Store(0)
		proxied.Store(0)
		out := asked.Send(t.Context(), newAttempt(receiver.URL+path))
		if got := [2]int32{direct.Load(), proxied.Load()}; !out.OK() || got != want {
			t.Errorf("%s: direct and proxied %v, want %v; %s", path, got, want, out.Detail)
		}
	}
	resolver, _ := newResolver(t, map[string][]netip.Addr{"internal.test": addrs("10.1.2.3")})
	guarded := newSender(t, Config{Guard: Guard{AllowHTTP: true, Resolver: resolver}, Proxy: http.ProxyURL(address)})
	proxied.Store(0)
	failed(t, guarded.Send(t.Context(), newAttempt(receiver.URL)), KindBlocked, "loopback")
	failed(t, guarded.Send(t.Context(), newAttempt("http://internal.test/hook")), KindBlocked, "not public")
	if n := proxied.Load(); n != 0 {
		t.Errorf("the proxy got %d requests for private addresses", n)
	}
	if out := guarded.Send(t.Context(), newAttempt("http://only-the-proxy-knows.test/hook")); !out.OK() || proxied.Load() != 1 {
		t.Errorf("a name that does not resolve here: %s, and the proxy got %d requests", out.Detail, proxied.Load())
	}
	gone := newReceiver(t, nil)
	gone.Close()
	address, err = url.Parse(gone.URL)
	if err != nil {
		t.Fatal(err)
	}
	lost := newSender(t, Config{Guard: local, Proxy: http.ProxyURL(address)})
	failed(t, lost.Send(t.Context(), newAttempt(receiver.URL)), KindConnect, "proxy")
}
