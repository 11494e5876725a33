package httpapi

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strconv"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Info is what the layers of one request tell one another: the server fills in
// who asks, the adapters what was asked for and what came of it, and the access
// log and the metrics read it once the answer is out. It belongs to the
// goroutine that serves the request.
type Info struct {
	RequestID      string
	Address        netip.Addr  // the client, behind any trusted proxy
	Size           int64       // announced length of the body, -1 when unknown
	ResponseHeader http.Header // the headers of the answer
	RawQuery       string      // as it was sent
	RequestHeader  http.Header // the headers of the request

	Route     string // the pattern, never the path: paths carry identifiers
	CompanyID int64
	TokenID   int64
	Code      domain.Code // of the error that was answered
	Err       error       // behind a 5xx answer; for the log only

	remote string
}

// SetCaller notes on whose behalf the request is made.
func (i *Info) SetCaller(companyID, tokenID int64) { i.CompanyID, i.TokenID = companyID, tokenID }

// Remote is the client's address as text, empty when it is not known.
func (i *Info) Remote() string {
	if i.remote == "" && i.Address.IsValid() {
		i.remote = i.Address.String()
	}
	return i.remote
}

// Context carries an Info. It is a type of its own, so that the server can keep
// it in the same allocation as the rest of a request's state.
type Context struct {
	context.Context
	Info Info
}

type infoKey struct{}

// Value answers for the Info and leaves every other key to the parent.
func (c *Context) Value(key any) any {
	if key == (infoKey{}) {
		return &c.Info
	}
	return c.Context.Value(key)
}

// InfoFrom gives the request's Info. Outside a request it gives one that nobody
// reads, so that callers need no check.
func InfoFrom(ctx context.Context) *Info {
	if info, ok := ctx.Value(infoKey{}).(*Info); ok {
		return info
	}
	return &Info{}
}

// Begin fills in what is known when a request arrives, and puts its id into the
// answer.
func (c *Context) Begin(parent context.Context, w http.ResponseWriter, r *http.Request) {
	c.Context = parent
	id := r.Header.Get("X-Request-Id")
	if !saneID(id) {
		id = NewRequestID()
	}
	answer := w.Header()
	answer["X-Request-Id"] = []string{id}
	c.Info = Info{
		RequestID: id, Address: peer(r.RemoteAddr), Size: r.ContentLength, ResponseHeader: answer, RawQuery: r.URL.RawQuery,
		RequestHeader: r.Header,
	}
}

// NewRequestID gives an id for a request that came without a sane one.
func NewRequestID() string {
	return strconv.FormatUint(rand.Uint64()|1<<63, 36) //nolint:gosec // unique, not secret
}

// WithInfo makes sure that the request carries an Info, also where no server
// has prepared it.
func WithInfo(w http.ResponseWriter, r *http.Request) *http.Request {
	if _, ok := r.Context().Value(infoKey{}).(*Info); ok {
		return r
	}
	var c Context
	c.Begin(r.Context(), w, r)
	return r.WithContext(&c)
}

// saneID says whether a caller's request id may be echoed and logged.
func saneID(id string) bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}

func peer(remote string) netip.Addr {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}
