package httpapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// RequestTimeout is how long an API works on one request before it answers 503.
// It lies below the server's own limits, so that the client always gets an answer.
const RequestTimeout = 15 * time.Second

// API is what a Router needs to know about one API.
type API[Caller any] struct {
	Prefix     string // the base address, such as /api/v1
	Operations []Operation[Caller]
	Statuses   []int                   // that every operation may answer with
	Documents  map[string]http.Handler // by path below Prefix; served without a token
	// Admit checks the token, the scope and the rate of a request, and reports the first
	// of them that fails.
	Admit func(ctx context.Context, info *Info, bearer string, scope domain.Scope) (Caller, error)
	// SetDefaultRate, if set, adds the rate limit headers to the response to a request
	// without a valid token.
	SetDefaultRate func(header http.Header)
	Timeout        time.Duration // RequestTimeout if zero
}

// Contracts returns what the operations promise.
func (a API[Caller]) Contracts() []Contract {
	out := make([]Contract, len(a.Operations))
	for i, op := range a.Operations {
		statuses := append(slices.Clone(a.Statuses), op.Errors...)
		if op.Body != nil {
			statuses = append(statuses, http.StatusRequestEntityTooLarge)
		}
		slices.Sort(statuses)
		out[i] = Contract{
			Method: op.Method, Path: op.Path, Scope: op.Scope, Query: op.Query, Body: op.Body, Statuses: statuses, Data: op.Handler.data,
			Deprecated: op.Deprecated,
		}
	}
	return out
}

// Router serves an API. Unknown paths and wrong methods get the error body too, and
// no path is redirected, because an identifier in it may be any text.
type Router[Caller any] struct {
	api      API[Caller]
	mux      *http.ServeMux
	fallback *http.ServeMux  // serves what mux does not match
	methods  []string        // of all operations
	refused  map[string]bool // patterns that exist only to refuse a method
}

// NewRouter returns the handler of everything below the API's prefix.
func NewRouter[Caller any](api API[Caller]) *Router[Caller] {
	if api.Timeout == 0 {
		api.Timeout = RequestTimeout
	}
	rt := &Router[Caller]{api: api, mux: http.NewServeMux(), fallback: http.NewServeMux(), refused: map[string]bool{"/": true}}
	for _, op := range api.Operations {
		if !slices.Contains(rt.methods, op.Method) {
			rt.methods = append(rt.methods, op.Method)
		}
	}
	slices.Sort(rt.methods)
	for _, op := range api.Operations {
		rt.register(op)
	}
	for path, document := range api.Documents {
		rt.mux.Handle(api.Prefix+path, rt.document(api.Prefix+path, document))
	}
	rt.mux.Handle("/", rt.fallback)
	rt.fallback.HandleFunc("/", rt.unmatched)
	return rt
}

func (rt *Router[Caller]) register(op Operation[Caller]) {
	mux, path := rt.mux, rt.api.Prefix+op.Path
	if op.Fallback {
		mux = rt.fallback
	}
	mux.Handle(op.Method+" "+path, rt.operation(op))
	for _, method := range rt.methods {
		if op.Exclusive && method != op.Method {
			rt.refused[method+" "+path] = true
			mux.HandleFunc(method+" "+path, rt.unmatched)
		}
	}
}

func (rt *Router[Caller]) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = WithInfo(w, r)
	if r.URL.RawPath != "" || !isPlainPath(r.URL.Path) {
		path, ok := canonicalPath(r.URL)
		if !ok {
			rt.fail(w, r, errNoPath)
			return
		}
		r = withPath(r, path)
	}
	rt.mux.ServeHTTP(w, r)
}

// operation returns the handler of one operation: it admits a request and answers it.
func (rt *Router[Caller]) operation(op Operation[Caller]) http.HandlerFunc {
	route := rt.api.Prefix + op.Path
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != op.Method { // ServeMux also sends HEAD to the handlers of GET
			rt.unmatched(w, r)
			return
		}
		info, ctx := InfoFrom(r.Context()), r.Context()
		info.Route = route
		op.Deprecated.setHeader(w.Header())
		if op.Handler.data != nil {
			limited := withDeadline(ctx, time.Now().Add(rt.api.Timeout))
			defer limited.cancel()
			ctx = limited
		}
		caller, err := rt.api.Admit(ctx, info, bearer(r.Header), op.Scope)
		if err == nil {
			err = checkQuery(r.URL.RawQuery)
		}
		if err == nil {
			ctx = domain.WithCompany(ctx, cmp.Or(info.CompanyID, domain.PlatformWork))
			if op.Replica {
				ctx = domain.AllowReplica(ctx)
			}
			request := &Request[Caller]{Request: r, Info: info, Caller: caller, names: op.Query, writer: w}
			defer request.runAfterAnswer()
			err = op.Handler.serve(ctx, w, request)
		}
		if err != nil {
			info.Subject = (&Params{request: r}).path("externalId")
			rt.fail(w, r, mapTimeout(ctx, err))
		}
	}
}

// mapTimeout turns an unexpected error into "unavailable" if the request's deadline
// has passed: nothing is broken, and the client may try again.
func mapTimeout(ctx context.Context, err error) error {
	if domain.CodeOf(err) == domain.CodeInternal && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return domain.Errorf(domain.CodeUnavailable, "The service could not answer in time. Try again in %d seconds.",
			retrySeconds[domain.CodeUnavailable]).WithCause(err)
	}
	return err
}

// bearer returns the token of the Authorization header, empty if there is none.
func bearer(h http.Header) string {
	for _, value := range h["Authorization"] {
		if scheme, token, _ := strings.Cut(value, " "); strings.EqualFold(scheme, "bearer") {
			return token
		}
	}
	return ""
}

func (rt *Router[Caller]) document(path string, document http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		InfoFrom(r.Context()).Route = path
		rt.setDefaultRate(w.Header())
		document.ServeHTTP(w, r)
	}
}

// unmatched answers 405 if the path has other methods, and 404 otherwise.
func (rt *Router[Caller]) unmatched(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	probe := *r
	for _, method := range rt.methods {
		probe.Method = method
		if rt.hasOperation(&probe) {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		rt.fail(w, r, errNoPath)
		return
	}
	rt.setDefaultRate(w.Header())
	NotAllowed(w, r, allowed...)
}

// hasOperation reports whether an operation answers a request.
func (rt *Router[Caller]) hasOperation(r *http.Request) bool {
	_, pattern := rt.mux.Handler(r)
	if pattern == "/" {
		_, pattern = rt.fallback.Handler(r)
	}
	return !rt.refused[pattern]
}

func (rt *Router[Caller]) fail(w http.ResponseWriter, r *http.Request, err error) {
	if InfoFrom(r.Context()).TokenID == 0 {
		rt.setDefaultRate(w.Header())
	}
	WriteError(w, r, err)
}

func (rt *Router[Caller]) setDefaultRate(header http.Header) {
	if rt.api.SetDefaultRate != nil {
		rt.api.SetDefaultRate(header)
	}
}

// isPlainPath reports whether ServeMux matches a path as it is. It redirects paths
// with empty or dot segments; a slash at the end is followed by an empty segment.
func isPlainPath(path string) bool {
	return !strings.Contains(path, "//") && !strings.Contains(path, "/.") && !strings.HasSuffix(path, "/")
}

// slashSegment stands for a segment that is one encoded slash, which ServeMux
// takes for the end of the path. It is random, so that no client can send it.
var slashSegment = "slash-" + rand.Text()

// canonicalPath encodes every segment so that ServeMux neither redirects the
// path nor takes an encoded slash for a separator. It reports false for a path
// with an empty segment, because no operation has one.
func canonicalPath(u *url.URL) (string, bool) {
	raw := u.RawPath
	if raw == "" {
		raw = u.EscapedPath()
	}
	segments := strings.Split(strings.TrimPrefix(raw, "/"), "/")
	for i, segment := range segments {
		text, err := url.PathUnescape(segment)
		if err != nil || text == "" {
			return "", false
		}
		switch text {
		case "/":
			text = slashSegment
		case ".":
			text = "%2E"
		case "..":
			text = "%2E%2E"
		default:
			text = url.PathEscape(text)
		}
		segments[i] = text
	}
	return "/" + strings.Join(segments, "/"), true
}

// withPath returns a copy of the request with another path.
func withPath(r *http.Request, escaped string) *http.Request {
	out, u := *r, *r.URL
	u.Path, _ = url.PathUnescape(escaped) // canonicalPath has encoded it
	u.RawPath = escaped
	out.URL = &u
	return &out
}
