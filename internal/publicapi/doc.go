// Package publicapi is the public API over HTTP. One routing table describes which
// function answers which operation of the contract; each of them turns a request
// into one call of a service and the outcome into the answer. The package checks
// tokens, scopes, rates and the form of requests; what a request may do is
// decided by the service.
package publicapi
