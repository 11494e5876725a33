package domain

import (
	"errors"
	"fmt"
	"strings"
)

// Code is the machine-readable name of a failure. Codes are part of the public
// contract: they never change their meaning.
type Code string

// The codes a caller can meet.
const (
	CodeInvalid             Code = "invalid_request"
	CodeUnauthorized        Code = "unauthorized"
	CodeInsufficientScope   Code = "insufficient_scope"
	CodeInsufficientRole    Code = "insufficient_role"
	CodeCompanySuspended    Code = "company_suspended"
	CodeAddressNotAllowed   Code = "address_not_allowed"
	CodeWrongCompany        Code = "wrong_company"
	CodeNotFound            Code = "not_found"
	CodeMethodNotAllowed    Code = "method_not_allowed"
	CodeEmployeeNotFound    Code = "employee_not_found"
	CodeEmployeeOffboarded  Code = "employee_offboarded"
	CodeCourseNotFound      Code = "course_not_found"
	CodeCompanyNotFound     Code = "company_not_found"
	CodeAssignmentNotFound  Code = "assignment_not_found"
	CodeAssignmentRevoked   Code = "assignment_revoked"
	CodeAssignmentCompleted Code = "assignment_completed"
	CodeCourseArchived      Code = "course_archived"
	CodeExternalIDTaken     Code = "external_id_taken"
	CodeEmailTaken          Code = "email_taken"
	CodeConflict            Code = "idempotency_conflict"
	CodeTooManyAssignments  Code = "too_many_assignments"
	CodeTooLarge            Code = "payload_too_large"
	CodeRateLimited         Code = "rate_limited"
	CodeTooManyReports      Code = "too_many_reports"
	CodeUnavailable         Code = "unavailable"
	CodeInternal            Code = "internal"
)

// Error is the one error type that crosses package borders on purpose. Message
// is safe to show to anyone; the cause is for the log only.
type Error struct {
	Code    Code
	Message string
	Fields  []FieldError
	cause   error
}

// FieldError describes what is wrong with one field of a request and what would be right.
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

func (e *Error) Error() string {
	if e.cause != nil {
		return e.Message + ": " + e.cause.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.cause }

// Errorf makes an Error with a message that is safe to show.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithCause attaches the cause that the log should see.
func (e *Error) WithCause(cause error) *Error {
	e.cause = cause
	return e
}

// MaxErrorFields is the most fields that a validation error names. A request can
// have hundreds of wrong ones, and the first few are enough to mend it.
const MaxErrorFields = 20

// Invalid joins field errors into one validation error, or returns nil when there
// are none. It names the first MaxErrorFields.
func Invalid(fields ...FieldError) error {
	if len(fields) == 0 {
		return nil
	}
	fields = fields[:min(len(fields), MaxErrorFields)]
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = f.Field + ": " + f.Message
	}
	return &Error{Code: CodeInvalid, Message: strings.Join(parts, "; "), Fields: fields}
}

// CodeOf returns the code of an error, CodeInternal for any that is not an Error.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// Checks collects field errors, so that a caller learns of all of them at once.
type Checks struct{ fields []FieldError }

// Add notes a field error unless err is nil.
func (c *Checks) Add(field string, err error) {
	if err != nil {
		c.fields = append(c.fields, FieldError{Field: field, Message: err.Error()})
	}
}

// Err returns the collected validation error, nil when every check held.
func (c *Checks) Err() error { return Invalid(c.fields...) }
