package v1

// ActivityType is the kind of a learner's activity.
type ActivityType string

// Values returns every type that the platform contract names.
func (ActivityType) Values() []string { return []string{"started", "progress", "attempt_finished"} }

// ActivitiesInput is what learners did, at most 1000 items.
type ActivitiesInput struct {
	Items []Activity `json:"items"`
}

// Activity is one thing that a learner did.
type Activity struct {
	ID                string       `json:"id"`
	AssignmentID      int64        `json:"assignmentId"`
	Type              ActivityType `json:"type"`
	OccurredAt        *DateTime    `json:"occurredAt,omitempty"`
	CompletionPercent *float64     `json:"completionPercent,omitempty"`
	Score             *float64     `json:"score,omitempty"`
}

// ActivityResults has one result per item, in the order of the items.
type ActivityResults struct {
	Results []ActivityResult `json:"results"`
}

// ActivityResult is the outcome of one item. If OK is true, Status is the
// assignment's; otherwise Code and Message describe what is wrong.
type ActivityResult struct {
	Index   int              `json:"index"`
	OK      bool             `json:"ok"`
	Status  AssignmentStatus `json:"status,omitempty"`
	Code    ErrorCode        `json:"code,omitempty"`
	Message string           `json:"message,omitempty"`
}

// CourseInput is a whole course. What is absent has its default.
type CourseInput struct {
	Name         string    `json:"name"`
	IsAssessment *bool     `json:"isAssessment,omitempty"`
	PassMark     *float64  `json:"passMark,omitempty"`
	Attempts     *int      `json:"attempts,omitempty"`
	Modules      *[]string `json:"modules,omitempty"`
}

// CourseSaved is the outcome of saving a course.
type CourseSaved struct {
	CourseID int64            `json:"courseId"`
	Status   CourseSaveStatus `json:"status"`
}

// CourseSaveStatus reports whether a course is new, was changed, or was already up to date.
type CourseSaveStatus string

// Values returns every status that the platform contract names.
func (CourseSaveStatus) Values() []string { return []string{"created", "updated", "unchanged"} }

// Grant reports whether a company has a course now.
type Grant struct {
	CourseID  int64 `json:"courseId"`
	CompanyID int64 `json:"companyId"`
	Granted   bool  `json:"granted"`
}

// PlatformCompany is a company as the learning platform sees it.
type PlatformCompany struct {
	ID        int64  `json:"id"`
	Name      string `json:"name"`
	TimeZone  string `json:"timeZone"`
	Suspended bool   `json:"suspended"`
}

// CompanyList is one page of companies.
type CompanyList struct {
	Items      []PlatformCompany `json:"items"`
	Pagination Pagination        `json:"pagination"`
}
