package httpapi

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strconv"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Info is shared by the layers of one request: the server sets who calls, the
// adapters set the route and the outcome, and the access log and the metrics read
// it after the answer. It belongs to the goroutine that serves the request.
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
	Code      domain.Code // of the error in the answer
	Message   string      // of the error in the answer
	Err       error       // behind a 5xx answer; for the log only
	Body      []byte      // as far as it was read
	Subject   string      // the externalId in the path of a failed call

	RequestBodies domain.RequestBodies // how the company wants failed calls logged

	remote string
}

// SetCaller sets on whose behalf the request is made.
func (i *Info) SetCaller(companyID, tokenID int64) { i.CompanyID, i.TokenID = companyID, tokenID }

// Remote returns the client's address as text, empty if it is not known.
func (i *Info) Remote() string {
	if i.remote == "" && i.Address.IsValid() {
		i.remote = i.Address.String()
	}
	return i.remote
}

// Context is a context with an Info. The server embeds it in its own state of a
// request, so that both take one allocation.
type Context struct {
	context.Context
	Info Info
}

type infoKey struct{}

// Value returns the Info for its key and asks the parent for every other key.
func (c *Context) Value(key any) any {
	if key == (infoKey{}) {
		return &c.Info
	}
	return c.Context.Value(key)
}

// InfoFrom returns the Info of the request. Outside a request it returns a new one,
// so that callers need no check.
func InfoFrom(ctx context.Context) *Info {
	if info, ok := ctx.Value(infoKey{}).(*Info); ok {
		return info
	}
	return &Info{}
}

// Begin initialises the Info of a request that has arrived, and sets the
// X-Request-Id of the answer.
func (c *Context) Begin(parent context.Context, w http.ResponseWriter, r *http.Request) {
	c.Context = parent
	id := r.Header.Get("X-Request-Id")
	if !isValidRequestID(id) {
		id = NewRequestID()
	}
	answer := w.Header()
	answer["X-Request-Id"] = []string{id}
	c.Info = Info{
		RequestID: id, Address: remoteAddress(r.RemoteAddr), Size: r.ContentLength, ResponseHeader: answer, RawQuery: r.URL.RawQuery,
		RequestHeader: r.Header,
	}
}

// NewRequestID returns an id for a request that has no valid one of its own.
func NewRequestID() string {
	return strconv.FormatUint(rand.Uint64()|1<<63, 36) //nolint:gosec // unique, not secret
}

// WithInfo returns the request with an Info. It keeps the one that the server has
// made.
func WithInfo(w http.ResponseWriter, r *http.Request) *http.Request {
	if _, ok := r.Context().Value(infoKey{}).(*Info); ok {
		return r
	}
	var c Context
	c.Begin(r.Context(), w, r)
	return r.WithContext(&c)
}

// isValidRequestID reports whether a client's request id may be echoed and logged.
func isValidRequestID(id string) bool {
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

func remoteAddress(remote string) netip.Addr {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}
