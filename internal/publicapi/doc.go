// Package publicapi is the public API over HTTP: it implements the interface
// generated from the contract by turning each request into one call of a service
// and the outcome into the answer. It checks tokens, scopes, rates and the form
// of requests; what a request may do is decided by the service.
package publicapi
