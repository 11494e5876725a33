package v1

// Error is the body of every error response.
type Error struct {
	Result  string       `json:"result"` // always "error"
	Message string       `json:"message"`
	Code    ErrorCode    `json:"code"`
	Fields  []FieldError `json:"fields,omitempty"`
}

// FieldError names an invalid field of the request and explains what is wrong with it.
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// ErrorCode identifies the kind of an error, for programs.
type ErrorCode string

// Values returns every code that the OpenAPI document of either API lists.
func (ErrorCode) Values() []string {
	return []string{
		"invalid_request", "unauthorized", "insufficient_scope", "company_suspended", "wrong_company", "not_found",
		"method_not_allowed", "employee_not_found", "employee_offboarded", "course_not_found", "company_not_found",
		"assignment_not_found", "assignment_revoked", "external_id_taken", "email_taken", "idempotency_conflict",
		"course_archived", "too_many_assignments", "payload_too_large", "rate_limited", "too_many_reports", "internal", "unavailable", "address_not_allowed",
	}
}
