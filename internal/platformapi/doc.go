// Package platformapi is the learning platform's side over HTTP. One routing
// table describes which function answers which operation of its contract; each of
// them turns a request into one call of a service and the outcome into the answer.
package platformapi
