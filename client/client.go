// Package client calls the public API of coursebridge from Go.
//
//	c, err := client.New("https://learning.example", os.Getenv("COURSEBRIDGE_TOKEN"))
//	…
//	for employee, err := range c.Employees(ctx, client.EmployeeFilter{Tag: "warehouse"}) {
//		…
//	}
//
// Calls are retried automatically after a lost connection, a 429 or a 5xx. This is
// safe, because employees and assignments are identified by the caller's own external ids.
// WebhookHandler receives events, and SyncAssignments keeps a copy up to date.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	v1 "github.com/coursebridge/coursebridge/api/v1"
)

// Client calls the API with one token. It is safe for concurrent use.
type Client struct {
	base    *url.URL // ends in /api/v1
	token   string
	http    *http.Client
	retries int
	pause   time.Duration
}

// Option configures a Client.
type Option func(*Client)

// WithHTTPClient sets the HTTP client. The default has a timeout of a minute per
// request. Its timeout also bounds the download of a report.
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithRetries sets how often a failed request is repeated (4 times by default) and the
// longest pause before the first repetition (250 ms by default). The pause doubles
// each time, up to 30 seconds; a random part of up to half is left out. If the server's
// Retry-After is longer, it applies.
func WithRetries(times int, pause time.Duration) Option {
	return func(c *Client) { c.retries, c.pause = times, pause }
}

// New returns a client for the service at an address such as
// https://learning.example, without /api/v1.
func New(address, token string, options ...Option) (*Client, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("the address %q is not an http or https URL", address)
	}
	if token == "" {
		return nil, errors.New("the token is empty: create one in the cabinet under Integrations, Tokens")
	}
	c := &Client{
		base: base.JoinPath("/api/v1"), token: token,
		http: &http.Client{Timeout: time.Minute}, retries: 4, pause: 250 * time.Millisecond,
	}
	for _, o := range options {
		o(c)
	}
	return c, nil
}

// Token returns the client's token: its name, scopes and limits.
func (c *Client) Token(ctx context.Context) (v1.Token, error) {
	return call[v1.Token](ctx, c, request{path: []string{"token"}})
}

// Courses returns every course that the company can assign.
func (c *Client) Courses(ctx context.Context) ([]v1.Course, error) {
	list, err := call[v1.CourseList](ctx, c, request{path: []string{"courses"}})
	return list.Items, err
}

// request is one call before it is sent. The segments of the path are escaped.
type request struct {
	method string // GET if empty
	path   []string
	query  url.Values
	body   any
}

// call sends a request and returns the data of the response.
func call[T any](ctx context.Context, c *Client, r request) (T, error) {
	data, _, err := callWithHeader[T](ctx, c, r)
	return data, err
}

func callWithHeader[T any](ctx context.Context, c *Client, r request) (T, http.Header, error) {
	var answer v1.Success[T]
	response, err := c.send(ctx, r)
	if err != nil {
		return answer.Data, nil, err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return answer.Data, nil, fmt.Errorf("read the answer of %s: %w", response.Request.URL.Path, err)
	}
	return answer.Data, response.Header, nil
}

// discard sends a request whose answer holds nothing new.
func (c *Client) discard(ctx context.Context, r request) error {
	response, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// errInvalidRequest is the error of a request that cannot be sent.
var errInvalidRequest = errors.New("invalid request")

// newRequest returns one attempt of a request.
func (c *Client) newRequest(ctx context.Context, r request, body []byte) (*http.Request, error) {
	segments := make([]string, len(r.path))
	for i, s := range r.path {
		if s == "" || s == "." || s == ".." {
			return nil, fmt.Errorf("%w: %q cannot be an external id", errInvalidRequest, s)
		}
		segments[i] = url.PathEscape(s)
	}
	address := c.base.JoinPath(segments...)
	address.RawQuery = r.query.Encode()
	method := r.method
	if method == "" {
		method = http.MethodGet
	}
	out, err := http.NewRequestWithContext(ctx, method, address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInvalidRequest, err)
	}
	out.Header.Set("Authorization", "Bearer "+c.token)
	out.Header.Set("User-Agent", "coursebridge-go")
	if body != nil {
		out.Header.Set("Content-Type", "application/json")
	}
	return out, nil
}

func encodeBody(v any) ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return body, nil
}

// readError returns the error of an answer that is not a success.
func readError(response *http.Response) *Error {
	defer response.Body.Close()
	out := &Error{Status: response.StatusCode, RequestID: response.Header.Get("X-Request-Id")}
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil || json.Unmarshal(body, &out.Body) != nil || out.Body.Code == "" {
		// A proxy responded, or the body was truncated.
		out.Body = v1.Error{Result: "error", Message: strings.ToLower(http.StatusText(response.StatusCode))}
	}
	return out
}
