// Package server is the HTTP edge: it listens, adds a request id, a body limit, a
// log line and metrics to every request, recovers from panics, limits the rate
// per token, answers health checks and stops gracefully. It does not know what
// its handlers do; they report a route and a caller through httpapi.Info.
package server
