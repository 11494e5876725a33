// Package platformapi serves the HTTP API for the learning platform, which reports
// what learners do and manages courses. A routing table maps each operation of the
// contract to a handler; a handler reads the request, calls one method of the service
// and writes its result as the response.
package platformapi
