package v1

import "encoding/json"

// Employee is a person's membership in the company.
type Employee struct {
	ID         int64    `json:"id"`
	ExternalID string   `json:"externalId"`
	Email      string   `json:"email"`
	Name       string   `json:"name"`
	Role       Role     `json:"role"`
	Tags       []string `json:"tags"`
	JoinedAt   DateTime `json:"joinedAt"`
}

// EmployeeWithAssignments is an employee with all assignments in ascending id.
type EmployeeWithAssignments struct {
	Employee
	Assignments []Assignment `json:"assignments"`

	// Encoded, if set, is written in place of Assignments. Clients ignore it.
	Encoded *EncodedAssignments `json:"-"`
}

// EmployeeList is one page of employees.
type EmployeeList struct {
	Items      []Employee `json:"items"`
	Pagination Pagination `json:"pagination"`
}

// ProvisionInput names the person to create or link.
type ProvisionInput struct {
	ExternalID string `json:"externalId"`
	Email      string `json:"email"`
	Name       string `json:"name"`
}

// Provisioned is the outcome of provisioning.
type Provisioned struct {
	ID         int64           `json:"id"`
	ExternalID string          `json:"externalId"`
	Email      string          `json:"email"`
	Status     ProvisionStatus `json:"status"`
}

// EmployeeUpdate describes what to change of an employee. Absent fields stay as they are.
type EmployeeUpdate struct {
	Name   *string   `json:"name,omitempty"`
	Email  *string   `json:"email,omitempty"`
	Tags   *[]string `json:"tags,omitempty"`
	Active *bool     `json:"active,omitempty"`
}

// EmployeeUpdated is the outcome of an update: the employee as it is now, or
// Offboarded if the update offboarded it. Exactly one of the two is set.
type EmployeeUpdated struct {
	Employee   *Employee
	Offboarded *Offboarded
}

// UnmarshalJSON decodes either outcome: only that of an offboarding has a status.
func (v *EmployeeUpdated) UnmarshalJSON(text []byte) error {
	var either struct {
		Employee
		Status string `json:"status"`
	}
	if err := json.Unmarshal(text, &either); err != nil {
		return err
	}
	if either.Status != "" {
		*v = EmployeeUpdated{Offboarded: &Offboarded{ExternalID: either.ExternalID, Status: either.Status}}
	} else {
		*v = EmployeeUpdated{Employee: &either.Employee}
	}
	return nil
}

// Offboarded is the outcome of offboarding.
type Offboarded struct {
	ExternalID string `json:"externalId"`
	Status     string `json:"status"` // always "offboarded"
}

// Deleted is the outcome of deletion.
type Deleted struct {
	ExternalID string `json:"externalId"`
	Status     string `json:"status"` // always "deleted"
}
