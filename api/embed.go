// Package api holds the contracts: the OpenAPI documents as they are published,
// ready to be served. Package v1 has their words as Go types; what they describe
// is implemented elsewhere.
package api

import (
	_ "embed"
	"sync"
)

//go:embed openapi.yaml
var publicYAML []byte

//go:embed platform.yaml
var platformYAML []byte

var (
	publicJSON   = sync.OnceValue(func() []byte { return mustJSON(publicYAML) })
	platformJSON = sync.OnceValue(func() []byte { return mustJSON(platformYAML) })
)

// PublicYAML returns the contract of the public API. Callers must not change it.
func PublicYAML() []byte { return publicYAML }

// PublicJSON returns the same document as JSON, with its keys in the same order.
// Callers must not change it.
func PublicJSON() []byte { return publicJSON() }

// PlatformYAML returns the contract of the platform side. Callers must not change it.
func PlatformYAML() []byte { return platformYAML }

// PlatformJSON returns the same document as JSON, with its keys in the same order.
// Callers must not change it.
func PlatformJSON() []byte { return platformJSON() }

// mustJSON converts a document of this package. The tests convert both, so a
// failure cannot reach a running program.
func mustJSON(document []byte) []byte {
	data, err := toJSON(document)
	if err != nil {
		panic("api: " + err.Error())
	}
	return data
}
