package v1

// Assignment is an assignment in full.
type Assignment struct {
	ID                 int64            `json:"id"`
	ExternalID         string           `json:"externalId"`
	EmployeeExternalID string           `json:"employeeExternalId"`
	EmployeeEmail      string           `json:"employeeEmail"`
	CourseID           int64            `json:"courseId"`
	CourseName         string           `json:"courseName"`
	Status             AssignmentStatus `json:"status"`
	StatusCategory     StatusCategory   `json:"statusCategory"`
	IsOverdue          bool             `json:"isOverdue"`
	CompletionPercent  float64          `json:"completionPercent"`
	Score              *float64         `json:"score"`
	NumberOfAttempts   int              `json:"numberOfAttempts"`
	IsRequired         bool             `json:"isRequired"`
	AssignedAt         DateTime         `json:"assignedAt"`
	Deadline           DateTime         `json:"deadline"`
	StartedAt          *DateTime        `json:"startedAt"`
	CompletedAt        *DateTime        `json:"completedAt"`
	LastActivityAt     DateTime         `json:"lastActivityAt"`
}

// AssignmentList is one page of assignments.
type AssignmentList struct {
	Items      []Assignment `json:"items"`
	Pagination Pagination   `json:"pagination"`
}

// AssignmentInput is an assignment to make.
type AssignmentInput struct {
	EmployeeExternalID string    `json:"employeeExternalId"`
	CourseID           int64     `json:"courseId"`
	ExternalID         string    `json:"externalId"`
	Deadline           *DateTime `json:"deadline,omitempty"`
	IsRequired         *bool     `json:"isRequired,omitempty"`
}

// AssignmentCreated is the assignment that was asked for, as it is now.
type AssignmentCreated struct {
	ID             int64            `json:"id"`
	ExternalID     string           `json:"externalId"`
	Status         AssignmentStatus `json:"status"`
	StatusCategory StatusCategory   `json:"statusCategory"`
	IsOverdue      bool             `json:"isOverdue"`
	AssignedAt     DateTime         `json:"assignedAt"`
	Deadline       DateTime         `json:"deadline"`
}

// Revoked is the outcome of revoking an assignment.
type Revoked struct {
	ID      int64 `json:"id"`
	Revoked bool  `json:"revoked"`
}

// BulkInput is the assignments to make, at most 500.
type BulkInput struct {
	Items []AssignmentInput `json:"items"`
}

// BulkResults has one result per item, in the order of the items.
type BulkResults struct {
	Results []BulkResult `json:"results"`
}

// BulkResult is the outcome of one item. If OK is true, AssignmentID is set and
// Status is the assignment's; otherwise Status is "error", Code and Message explain
// why, and Fields names the values at fault where the error is about values.
type BulkResult struct {
	Index        int          `json:"index"`
	OK           bool         `json:"ok"`
	AssignmentID int64        `json:"assignmentId,omitempty"`
	Status       string       `json:"status"`
	Code         ErrorCode    `json:"code,omitempty"`
	Message      string       `json:"message,omitempty"`
	Fields       []FieldError `json:"fields,omitempty"`
}

// Progress describes how far an assignment has come.
type Progress struct {
	ID                int64            `json:"id"`
	CompletionPercent float64          `json:"completionPercent"`
	LastActivityAt    DateTime         `json:"lastActivityAt"`
	Status            AssignmentStatus `json:"status"`
	StatusCategory    StatusCategory   `json:"statusCategory"`
	IsOverdue         bool             `json:"isOverdue"`
}

// Results is the outcome of the latest ended attempt.
type Results struct {
	ID               int64            `json:"id"`
	Score            *float64         `json:"score"`
	NumberOfAttempts int              `json:"numberOfAttempts"`
	Status           AssignmentStatus `json:"status"`
	StatusCategory   StatusCategory   `json:"statusCategory"`
	CompletedAt      *DateTime        `json:"completedAt"`
	ResultSummary    ResultSummary    `json:"resultSummary"`
}

// ResultSummary is the outcome in short.
type ResultSummary struct {
	CompletionState CompletionState `json:"completionState"`
	IsPassed        bool            `json:"isPassed"`
	FinalScore      *float64        `json:"finalScore"`
	Summary         string          `json:"summary"`
}
