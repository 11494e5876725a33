// Package httpapi holds the HTTP conventions that both APIs share: the router, the
// error body and the one mapping of domain codes to statuses, strict reading of
// JSON bodies and parameters, pages of lists, and the Info that the layers of one
// request share. It knows no operation and no service.
package httpapi
