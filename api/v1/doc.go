// Package v1 declares the request and response bodies of the public API and the
// platform API as Go types. The server encodes its responses from them, and a Go
// client can decode the same types with encoding/json.
//
// The OpenAPI documents in the parent directory are authoritative. A test checks
// that they and these types declare the same fields and values.
package v1
