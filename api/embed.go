// Package api holds the contracts: the OpenAPI documents as they are published,
// ready to be served. Package v1 has their words as Go types; what they describe
// is implemented elsewhere.
package api

import (
	"bytes"
	_ "embed"
	"sync"
)

//go:embed openapi.yaml
var publicYAML []byte

//go:embed platform.yaml
var platformYAML []byte

var (
	publicJSON    = sync.OnceValue(func() []byte { return mustJSON(publicYAML) })
	platformJSON  = sync.OnceValue(func() []byte { return mustJSON(platformYAML) })
	publicPostman = sync.OnceValue(func() []byte { return mustPostman(publicJSON()) })
)

// Documents are the descriptions of the public API, for people and programs. The JSON
// has its keys in the order of the YAML. Callers must not change them.
type Documents struct {
	YAML, JSON []byte
	Postman    []byte // a collection for Postman, generated from the contract
}

// PublicAt returns the contract of the public API of an installation. Its server
// is absolute, unless the public URL is empty.
func PublicAt(publicURL string) Documents {
	if publicURL == "" {
		return Documents{YAML: publicYAML, JSON: publicJSON(), Postman: publicPostman()}
	}
	d := Documents{YAML: bytes.Replace(publicYAML, []byte("\n  - url: /api/v1\n"), []byte("\n  - url: "+publicURL+"/api/v1\n"), 1)}
	d.JSON = mustJSON(d.YAML)
	d.Postman = mustPostman(d.JSON)
	return d
}

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
