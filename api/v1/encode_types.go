package v1

// Each encoder writes the fields in the order and under the names of the struct tags;
// TestEncodingIsThatOfTheTags checks the names and values.

func (v Employee) encode(e *encoder) { v.write(e) }

func (v *Employee) write(e *encoder) {
	v.writeOpen(e)
	e.raw("}")
}

// writeOpen writes the object without its closing brace.
func (v *Employee) writeOpen(e *encoder) {
	e.int(`{"id":`, v.ID)
	e.string(`,"externalId":`, v.ExternalID)
	e.string(`,"email":`, v.Email)
	e.string(`,"name":`, v.Name)
	e.word(`,"role":`, string(v.Role))
	e.raw(`,"tags":`)
	list(e, v.Tags, func(tag *string, e *encoder) { e.string("", *tag) })
	e.time(`,"joinedAt":`, v.JoinedAt)
}

func (v EmployeeWithAssignments) encode(e *encoder) {
	v.writeOpen(e)
	e.raw(`,"assignments":`)
	if v.Encoded != nil {
		v.Encoded.encode(e)
	} else {
		list(e, v.Assignments, (*Assignment).write)
	}
	e.raw("}")
}

func (v EmployeeList) encode(e *encoder) {
	e.raw(`{"items":`)
	list(e, v.Items, (*Employee).write)
	v.Pagination.write(e)
	e.raw("}")
}

func (v EmployeeUpdated) encode(e *encoder) {
	if v.Offboarded != nil {
		v.Offboarded.encode(e)
		return
	}
	v.Employee.encode(e)
}

func (v Provisioned) encode(e *encoder) {
	e.int(`{"id":`, v.ID)
	e.string(`,"externalId":`, v.ExternalID)
	e.string(`,"email":`, v.Email)
	e.word(`,"status":`, string(v.Status))
	e.raw("}")
}

func (v Assignment) encode(e *encoder) { v.write(e) }

func (v *Assignment) write(e *encoder) {
	e.int(`{"id":`, v.ID)
	e.string(`,"externalId":`, v.ExternalID)
	e.string(`,"employeeExternalId":`, v.EmployeeExternalID)
	e.string(`,"employeeEmail":`, v.EmployeeEmail)
	e.int(`,"courseId":`, v.CourseID)
	e.string(`,"courseName":`, v.CourseName)
	e.word(`,"status":`, string(v.Status))
	e.word(`,"statusCategory":`, string(v.StatusCategory))
	e.bool(`,"isOverdue":`, v.IsOverdue)
	e.number(`,"completionPercent":`, v.CompletionPercent)
	e.nullableNumber(`,"score":`, v.Score)
	e.int(`,"numberOfAttempts":`, int64(v.NumberOfAttempts))
	e.bool(`,"isRequired":`, v.IsRequired)
	e.time(`,"assignedAt":`, v.AssignedAt)
	e.time(`,"deadline":`, v.Deadline)
	e.nullableTime(`,"startedAt":`, v.StartedAt)
	e.nullableTime(`,"completedAt":`, v.CompletedAt)
	e.time(`,"lastActivityAt":`, v.LastActivityAt)
	e.raw("}")
}

func (v AssignmentList) encode(e *encoder) {
	e.raw(`{"items":`)
	list(e, v.Items, (*Assignment).write)
	v.Pagination.write(e)
	e.raw("}")
}

func (v AssignmentCreated) encode(e *encoder) {
	e.int(`{"id":`, v.ID)
	e.string(`,"externalId":`, v.ExternalID)
	e.word(`,"status":`, string(v.Status))
	e.word(`,"statusCategory":`, string(v.StatusCategory))
	e.bool(`,"isOverdue":`, v.IsOverdue)
	e.time(`,"assignedAt":`, v.AssignedAt)
	e.time(`,"deadline":`, v.Deadline)
	e.raw("}")
}

func (v BulkResults) encode(e *encoder) {
	e.raw(`{"results":`)
	list(e, v.Results, (*BulkResult).write)
	e.raw("}")
}

func (v *BulkResult) write(e *encoder) {
	e.int(`{"index":`, int64(v.Index))
	e.bool(`,"ok":`, v.OK)
	if v.OK {
		e.int(`,"assignmentId":`, v.AssignmentID)
	}
	e.word(`,"status":`, v.Status)
	if !v.OK {
		e.word(`,"code":`, string(v.Code))
		e.string(`,"message":`, v.Message)
		e.fieldErrors(v.Fields)
	}
	e.raw("}")
}

func (v Progress) encode(e *encoder) {
	e.int(`{"id":`, v.ID)
	e.number(`,"completionPercent":`, v.CompletionPercent)
	e.time(`,"lastActivityAt":`, v.LastActivityAt)
	e.word(`,"status":`, string(v.Status))
	e.word(`,"statusCategory":`, string(v.StatusCategory))
	e.bool(`,"isOverdue":`, v.IsOverdue)
	e.raw("}")
}

func (v Results) encode(e *encoder) {
	e.int(`{"id":`, v.ID)
	e.nullableNumber(`,"score":`, v.Score)
	e.int(`,"numberOfAttempts":`, int64(v.NumberOfAttempts))
	e.word(`,"status":`, string(v.Status))
	e.word(`,"statusCategory":`, string(v.StatusCategory))
	e.nullableTime(`,"completedAt":`, v.CompletedAt)
	e.word(`,"resultSummary":{"completionState":`, string(v.ResultSummary.CompletionState))
	e.bool(`,"isPassed":`, v.ResultSummary.IsPassed)
	e.nullableNumber(`,"finalScore":`, v.ResultSummary.FinalScore)
	e.string(`,"summary":`, v.ResultSummary.Summary)
	e.raw("}}")
}

func (v CourseList) encode(e *encoder) {
	e.raw(`{"items":`)
	list(e, v.Items, (*Course).write)
	e.raw("}")
}

func (v *Course) write(e *encoder) {
	e.int(`{"id":`, v.ID)
	e.string(`,"name":`, v.Name)
	if v.ExternalID == nil {
		e.raw(`,"externalId":null`)
	} else {
		e.string(`,"externalId":`, *v.ExternalID)
	}
	e.bool(`,"isAssessment":`, v.IsAssessment)
	e.raw("}")
}

// write writes the field "pagination", which follows the items of a list.
func (v *Pagination) write(e *encoder) {
	e.int(`,"pagination":{"page":`, v.Page)
	e.int(`,"limit":`, int64(v.Limit))
	e.int(`,"total":`, v.Total)
	e.int(`,"pages":`, v.Pages)
	e.raw("}")
}

func (v ActivityResults) encode(e *encoder) {
	e.raw(`{"results":`)
	list(e, v.Results, (*ActivityResult).write)
	e.raw("}")
}

func (v *ActivityResult) write(e *encoder) {
	e.int(`{"index":`, int64(v.Index))
	e.bool(`,"ok":`, v.OK)
	if v.OK {
		e.word(`,"status":`, string(v.Status))
	} else {
		e.word(`,"code":`, string(v.Code))
		e.string(`,"message":`, v.Message)
	}
	e.raw("}")
}

func (v Error) encode(e *encoder) {
	e.string(`{"result":"error","message":`, v.Message)
	e.word(`,"code":`, string(v.Code))
	e.fieldErrors(v.Fields)
	e.raw("}")
}

// fieldErrors writes the field "fields" with the errors, if there are any.
func (e *encoder) fieldErrors(fields []FieldError) {
	if len(fields) > 0 {
		e.raw(`,"fields":`)
		list(e, fields, (*FieldError).write)
	}
}

func (v *FieldError) write(e *encoder) {
	e.string(`{"field":`, v.Field)
	e.string(`,"message":`, v.Message)
	e.raw("}")
}

func (v Offboarded) encode(e *encoder)  { e.plain(v) }
func (v Deleted) encode(e *encoder)     { e.plain(v) }
func (v Revoked) encode(e *encoder)     { e.plain(v) }
func (v Token) encode(e *encoder)       { e.plain(v) }
func (v CourseSaved) encode(e *encoder) { e.plain(v) }
func (v Grant) encode(e *encoder)       { e.plain(v) }
func (v CompanyList) encode(e *encoder) { e.plain(v) }
