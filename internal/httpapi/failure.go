package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// Failure is an error as clients see it. RetryAfter is in seconds, 0 if a retry
// does not help.
type Failure struct {
	Status     int
	Code       domain.Code
	Message    string
	Fields     []domain.FieldError
	RetryAfter int
}

// challenge is the value of WWW-Authenticate on every 401.
const challenge = "Bearer"

// jsonType is the Content-Type of every JSON body. Callers must not change it.
var jsonType = []string{"application/json; charset=utf-8"}

var statuses = map[domain.Code]int{
	domain.CodeInvalid:             http.StatusBadRequest,
	domain.CodeUnauthorized:        http.StatusUnauthorized,
	domain.CodeInsufficientScope:   http.StatusForbidden,
	domain.CodeInsufficientRole:    http.StatusForbidden,
	domain.CodeCompanySuspended:    http.StatusForbidden,
	domain.CodeAddressNotAllowed:   http.StatusForbidden,
	domain.CodeWrongCompany:        http.StatusForbidden,
	domain.CodeNotFound:            http.StatusNotFound,
	domain.CodeEmployeeNotFound:    http.StatusNotFound,
	domain.CodeEmployeeOffboarded:  http.StatusNotFound,
	domain.CodeCourseNotFound:      http.StatusNotFound,
	domain.CodeCompanyNotFound:     http.StatusNotFound,
	domain.CodeAssignmentNotFound:  http.StatusNotFound,
	domain.CodeAssignmentRevoked:   http.StatusNotFound,
	domain.CodeMethodNotAllowed:    http.StatusMethodNotAllowed,
	domain.CodeExternalIDTaken:     http.StatusConflict,
	domain.CodeEmailTaken:          http.StatusConflict,
	domain.CodeConflict:            http.StatusConflict,
	domain.CodeTooManyAssignments:  http.StatusConflict,
	domain.CodeAssignmentCompleted: http.StatusConflict,
	domain.CodeCourseArchived:      http.StatusConflict,
	domain.CodeTooLarge:            http.StatusRequestEntityTooLarge,
	domain.CodeRateLimited:         http.StatusTooManyRequests,
	domain.CodeTooManyReports:      http.StatusTooManyRequests,
	domain.CodeUnavailable:         http.StatusServiceUnavailable,
	domain.CodeInternal:            http.StatusInternalServerError,
}

// retrySeconds is the Retry-After of errors that do not carry one of their own.
var retrySeconds = map[domain.Code]int{
	domain.CodeRateLimited:    1,
	domain.CodeTooManyReports: 5,
	domain.CodeUnavailable:    2,
}

// retryError is an error with a Retry-After of its own.
type retryError struct {
	error
	wait time.Duration
}

func (e retryError) Unwrap() error { return e.error }

// WithRetryAfter returns err with a Retry-After of wait.
func WithRetryAfter(err error, wait time.Duration) error { return retryError{err, wait} }

// Describe returns the part of an error that clients may see, and notes the rest
// in info for the log.
func Describe(info *Info, err error) Failure {
	shown := publicError(err)
	status, isPublic := statuses[shown.Code]
	if !isPublic {
		shown, status = &domain.Error{Code: domain.CodeInternal}, http.StatusInternalServerError
	}
	f := Failure{
		Status: status, Code: shown.Code, Message: strings.ToValidUTF8(shown.Message, "\uFFFD"), Fields: shown.Fields,
		RetryAfter: retrySeconds[shown.Code],
	}
	var retry retryError
	if errors.As(err, &retry) {
		f.RetryAfter = max(1, int((retry.wait+time.Second-1)/time.Second))
	}
	if shown.Code == domain.CodeInternal {
		f.Message = "Something unexpected failed. If it happens again, report the request id " + info.RequestID + "."
		f.Fields = nil
	}
	info.Code, info.Message = f.Code, f.Message
	if status >= http.StatusInternalServerError {
		info.Err = err
	}
	return f
}

// publicError returns the part of an error that is safe to show.
func publicError(err error) *domain.Error {
	var shown *domain.Error
	if errors.As(err, &shown) && shown.Code != domain.CodeInternal {
		return shown
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return errTooLarge
	// The client has left or the time has run out; nothing is broken.
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return domain.Errorf(domain.CodeUnavailable, "The service is temporarily unavailable. Try again in %d seconds.", retrySeconds[domain.CodeUnavailable])
	}
	return &domain.Error{Code: domain.CodeInternal}
}

// WriteError answers with the error body.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	f := Describe(InfoFrom(r.Context()), err)
	h := w.Header()
	h["Content-Type"] = jsonType
	h.Del("Content-Length")
	h.Del("Content-Disposition")
	if f.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", challenge)
	}
	if f.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	w.WriteHeader(f.Status)
	if r.Method != http.MethodHead {
		_ = v1.WriteError(w, f.body()) // fails only if the client has left
	}
}

func (f Failure) body() v1.Error {
	body := v1.Error{Message: f.Message, Code: v1.ErrorCode(f.Code)}
	for _, field := range f.Fields {
		body.Fields = append(body.Fields, v1.FieldError(field))
	}
	return body
}

// errNoPath is the error of a path that does not exist.
var errNoPath = domain.Errorf(domain.CodeNotFound, "There is no such path. Compare it with the API's OpenAPI document; identifiers in it must be percent-encoded.")

// NotFound answers that there is no such path.
func NotFound(w http.ResponseWriter, r *http.Request) { WriteError(w, r, errNoPath) }

// NotAllowed answers that the path has other methods.
func NotAllowed(w http.ResponseWriter, r *http.Request, allowed ...string) {
	list := strings.Join(allowed, ", ")
	w.Header().Set("Allow", list)
	WriteError(w, r, domain.Errorf(domain.CodeMethodNotAllowed, "%s is not supported here. Use one of: %s.", r.Method, list))
}

// DescribeItem returns the part of a bulk item's error that clients may see. The
// answer as a whole is a success, so an unexpected error of an item is noted in
// info here.
func DescribeItem(info *Info, err error) v1.Error {
	item := Info{RequestID: info.RequestID}
	f := Describe(&item, err)
	if item.Err != nil {
		info.Err = item.Err
	}
	return f.body()
}
