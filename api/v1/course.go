package v1

// Course is a course or slice that can be assigned. ExternalID is nil for a
// slice until one is set in the cabinet.
type Course struct {
	ID           int64   `json:"id"`
	Name         string  `json:"name"`
	ExternalID   *string `json:"externalId"`
	IsAssessment bool    `json:"isAssessment"`
}

// CourseList is every course that the company can assign.
type CourseList struct {
	Items []Course `json:"items"`
}
