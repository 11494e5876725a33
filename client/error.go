package client

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	v1 "github.com/coursebridge/coursebridge/api/v1"
)

// Error is an answer of the server that is not a success. Decide by its code:
//
//	if client.Code(err) == "employee_not_found" { … }
type Error struct {
	Status    int
	RequestID string // find the call by it in the audit log
	Body      v1.Error
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%d %s: %s", e.Status, e.Body.Code, e.Body.Message)
	for _, f := range e.Body.Fields {
		if field := f.Field + ": " + f.Message; !strings.Contains(text, field) {
			text += "; " + field
		}
	}
	return text
}

// Code returns the error code that the server answered with, or "" if it did not
// answer or the error is nil.
func Code(err error) v1.ErrorCode {
	var e *Error
	if errors.As(err, &e) {
		return e.Body.Code
	}
	return ""
}

// passing reports whether the same request may succeed later.
func (e *Error) passing() bool {
	return e.Status == http.StatusTooManyRequests || e.Status >= http.StatusInternalServerError
}
