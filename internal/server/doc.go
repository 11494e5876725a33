// Package server carries handlers: it listens, gives every request an id, a body
// limit, a log line and a measurement, catches panics, counts tokens' requests,
// answers health checks and stops gracefully. It does not know what the handlers
// do; they tell it a route and a caller through wire.Info.
package server
