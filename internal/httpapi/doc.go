// Package httpapi holds the conventions that everything speaking HTTP here shares:
// the error body and the one mapping of domain codes to statuses, strict reading
// of JSON bodies and query parameters, list cursors, and what the layers of one
// request tell one another. It knows no operation, no route and no service.
package httpapi
