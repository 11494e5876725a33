package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// Operation is one row of the routing table of an API. Caller is the type that
// identifies who calls.
type Operation[Caller any] struct {
	Method  string
	Path    string // a pattern of http.ServeMux below the API's base address
	Scope   domain.Scope
	Handler Handler[Caller]

	Query  []string // the names of the query parameters; no other can be read
	Body   any      // a zero value of the request body's type, nil without one
	Errors []int    // statuses that not every operation of the API answers with

	Deprecated *Deprecation // nil unless the operation is going to be removed

	// Replica rows may be answered from a read replica: see domain.AllowReplica.
	Replica bool
	// Fallback rows match only what no other row matches. ServeMux refuses two
	// patterns that match one path if neither is more specific, such as
	// /assignments/{id}/progress and /assignments/by-external-id/{externalId}.
	Fallback bool
	// Exclusive rows keep their path from the wildcards of other rows: every other
	// method is refused there.
	Exclusive bool
}

// Deprecation announces that an operation is going to be removed. We promise at least
// twelve months between the two times; a test holds every operation to it.
type Deprecation struct{ Since, Sunset time.Time }

// setHeader announces the removal in an answer: RFC 9745 and RFC 8594.
func (d *Deprecation) setHeader(h http.Header) {
	if d != nil {
		h.Set("Deprecation", "@"+strconv.FormatInt(d.Since.Unix(), 10))
		h.Set("Sunset", d.Sunset.UTC().Format(http.TimeFormat))
	}
}

// Handler answers the requests of one operation.
type Handler[Caller any] struct {
	serve func(context.Context, http.ResponseWriter, *Request[Caller]) error
	data  v1.Body // a zero value of the answer's type, nil for a file
}

// HandleFunc returns the data of the answer to a request.
type HandleFunc[Caller any, Data v1.Body] func(context.Context, *Request[Caller]) (Data, error)

// Answer makes a handler of a function that returns the data of the answer.
func Answer[Caller any, Data v1.Body](handle HandleFunc[Caller, Data]) Handler[Caller] {
	var zero Data
	return Handler[Caller]{data: zero, serve: func(ctx context.Context, w http.ResponseWriter, r *Request[Caller]) error {
		data, err := handle(ctx, r)
		if err != nil {
			return err
		}
		w.Header()["Content-Type"] = jsonType
		w.WriteHeader(http.StatusOK)
		_ = v1.WriteSuccess(w, data) // fails only if the client has left
		return nil
	}}
}

// File makes a handler of a function that writes a file. The deadline of the API
// does not apply to it: the function limits its own time.
func File[Caller any](handle func(context.Context, http.ResponseWriter, *Request[Caller]) error) Handler[Caller] {
	return Handler[Caller]{serve: handle}
}

// Request is an admitted request to an operation.
type Request[Caller any] struct {
	*http.Request
	Info   *Info
	Caller Caller
	names  []string
	writer http.ResponseWriter
	after  []func()
}

// AfterAnswer registers fn to be called once the answer has been written, be it data, a
// file or an error, and also if the handler panics.
func (r *Request[Caller]) AfterAnswer(fn func()) { r.after = append(r.after, fn) }

// Abort makes the writing of the answer fail, also from another goroutine.
func (r *Request[Caller]) Abort() {
	_ = http.NewResponseController(r.writer).SetWriteDeadline(time.Unix(1, 0)) // fails only without a connection
}

func (r *Request[Caller]) runAfterAnswer() {
	for _, fn := range r.after {
		fn()
	}
}

// Params returns the reader of the parameters in the path and the query.
func (r *Request[Caller]) Params() *Params { return newParams(r.Request, r.names) }

// PathID returns a parameter of the path that is an identifier of the service.
func (r *Request[Caller]) PathID(name string) (int64, error) {
	p := Params{request: r.Request}
	id := p.PathID(name)
	return id, p.Err()
}

// PathExternalID returns a parameter of the path that is an identifier of its owner's choice.
func (r *Request[Caller]) PathExternalID(name string) (string, error) {
	p := Params{request: r.Request}
	externalID := p.PathExternalID(name)
	return externalID, p.Err()
}

// Object reads the body, which must be one JSON object and nothing else.
func (r *Request[Caller]) Object() (*Object, error) { return ReadObject(r.Info, r.Body) }

// OptionalObject reads the body as Object does; no body is an object without fields.
func (r *Request[Caller]) OptionalObject() (*Object, error) {
	return ReadOptionalObject(r.Info, r.Body)
}

// Contract is what an operation promises, in the terms of the OpenAPI document.
type Contract struct {
	Method, Path string
	Scope        domain.Scope
	Query        []string
	Body         any
	Data         any // nil for a file
	Statuses     []int
	Deprecated   *Deprecation
}
