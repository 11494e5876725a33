// Package platformapi is the learning platform's side over HTTP: it implements
// the interface generated from the platform contract. Like the public API it
// checks the token and the form of requests and leaves the rest to a service; it
// knows no company's token and no company's scope.
package platformapi
