// Package coursebridge holds the documentation and the example configurations, so
// that the program can serve them at /docs. It holds no code.
package coursebridge

import "embed"

// Documents is the documentation as it is in the repository.
//
//go:embed CHANGELOG.md CONTRIBUTING.md SECURITY.md docs deploy
var Documents embed.FS
