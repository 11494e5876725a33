// Package v1 holds the words of the contracts as Go types: what the public API
// and the platform API take and answer. The server encodes the answers with
// them, and a client decodes the same types with encoding/json.
//
// The OpenAPI documents in the parent directory come first. A test compares
// every type here with them, in both directions.
package v1
