package domain

import (
	"cmp"
	"errors"
	"slices"
	"time"
)

// Role is an employee's part in the company. The API only makes employees; the
// cabinet changes roles.
type Role string

// The roles.
const (
	RoleEmployee Role = "employee"
	RoleManager  Role = "manager"
	RoleAdmin    Role = "admin"
)

// Employee is a person's membership in a company. ExternalID is empty for
// someone who joined through the cabinet and was not linked yet; LeftAt is set
// once the person is a former employee.
type Employee struct {
	CompanyID  int64
	ID         int64
	ExternalID string
	Email      string
	Name       string
	Role       Role
	Tags       []string
	JoinedAt   time.Time
	LeftAt     *time.Time
}

// EmployeeFilter narrows a list; empty fields do not.
type EmployeeFilter struct {
	ExternalID string
	Email      string
	Tag        string
}

// ByTag reports whether the tag is the only filter that many employees may match.
func (f EmployeeFilter) ByTag() bool { return f.Tag != "" && f.Email == "" && f.ExternalID == "" }

// Provision asks for an employee with this identifier and this address.
type Provision struct {
	ExternalID string
	Email      string
	Name       string
	Tags       []string // of somebody new; only an import has them
}

// Normalize normalises the input and reports every field that is wrong.
func (p *Provision) Normalize() error {
	var c Checks
	var err error
	c.Add("externalId", CheckExternalID(p.ExternalID))
	p.Email, err = NormalizeEmail(p.Email)
	c.Add("email", err)
	p.Name, err = NormalizeName(p.Name)
	c.Add("name", err)
	return c.Err()
}

// Newcomer is a person whom an administrator adds in the cabinet.
type Newcomer struct {
	Email string
	Name  string
	Tags  []string
	Role  Role // RoleEmployee if it is empty
}

// Normalize normalises the input and reports every field that is wrong.
func (n *Newcomer) Normalize() error {
	var c Checks
	var err error
	n.Email, err = NormalizeEmail(n.Email)
	c.Add("email", err)
	n.Name, err = NormalizeName(n.Name)
	c.Add("name", err)
	n.Tags, err = NormalizeTags(n.Tags)
	c.Add("tags", err)
	n.Role = cmp.Or(n.Role, RoleEmployee)
	c.Add("role", CheckRole(n.Role))
	return c.Err()
}

// ProvisionStatus is what provisioning did.
type ProvisionStatus string

// The outcomes of provisioning.
const (
	ProvisionCreated ProvisionStatus = "created"
	ProvisionLinked  ProvisionStatus = "linked"
	ProvisionFound   ProvisionStatus = "found"
)

// ProvisionState is what the company and the platform know before the call:
// the live employees that hold the identifier or the address, and the latest
// former employee with the address.
type ProvisionState struct {
	ByExternalID *Employee
	ByEmail      *Employee
	Former       *Employee
}

// Add takes an employee who has the externalId or, now or formerly, the email.
func (s *ProvisionState) Add(in Provision, e *Employee) {
	if e.LeftAt != nil {
		if f := s.Former; f == nil || e.LeftAt.After(*f.LeftAt) || e.LeftAt.Equal(*f.LeftAt) && e.ID > f.ID {
			s.Former = e
		}
		return
	}
	if in.ExternalID != "" && e.ExternalID == in.ExternalID {
		s.ByExternalID = e
	}
	if FoldEmail(e.Email) == FoldEmail(in.Email) {
		s.ByEmail = e
	}
}

// ProvisionAction is the write that a provisioning call needs.
type ProvisionAction int

// The actions. Join covers both created and linked: which of the two it was is
// known once the insertion of the account shows whether it existed.
const (
	ProvisionNothing ProvisionAction = iota
	ProvisionSetExternalID
	ProvisionBringBack
	ProvisionJoin
)

// DecideProvision applies the decision table of provisioning; the first match wins.
func DecideProvision(in Provision, s ProvisionState) (ProvisionAction, error) {
	sameEmail := func(e *Employee) bool { return FoldEmail(e.Email) == FoldEmail(in.Email) }
	switch {
	case s.ByExternalID != nil && sameEmail(s.ByExternalID):
		return ProvisionNothing, nil
	case s.ByExternalID != nil:
		return 0, Errorf(CodeExternalIDTaken, "Another employee already has the externalId %q, with a different email. Use PATCH /employees/{externalId} to change an address.", in.ExternalID)
	case s.ByEmail != nil && s.ByEmail.ExternalID != "":
		return 0, Errorf(CodeEmailTaken, "An employee with this email already has another externalId. Use that externalId, or change one of the two.")
	case s.ByEmail != nil:
		return ProvisionSetExternalID, nil
	case s.Former != nil:
		return ProvisionBringBack, nil
	}
	return ProvisionJoin, nil
}

// EmployeePatch changes what is not nil. Active false offboards, true brings back.
// The role, the externalId and the attributes are changed in the cabinet only.
type EmployeePatch struct {
	Name       *string
	Tags       *[]string
	Email      *string
	Active     *bool
	Role       *Role
	ExternalID *string
	Attributes Attributes // replaces all of them; nil leaves them as they are
}

// Normalize normalises the input and reports every field that is wrong.
func (p *EmployeePatch) Normalize() error {
	var c Checks
	if p.Name != nil {
		name, err := NormalizeName(*p.Name)
		c.Add("name", err)
		p.Name = &name
	}
	if p.Tags != nil {
		tags, err := NormalizeTags(*p.Tags)
		c.Add("tags", err)
		p.Tags = &tags
	}
	if p.Email != nil {
		email, err := NormalizeEmail(*p.Email)
		c.Add("email", err)
		p.Email = &email
	}
	if p.Role != nil {
		c.Add("role", CheckRole(*p.Role))
	}
	if p.ExternalID != nil {
		c.Add("externalId", CheckExternalID(*p.ExternalID))
	}
	c.Add("attributes", p.Attributes.problem())
	return c.Err()
}

// Changes reports whether the patch changes a field of e. Neither its membership nor its
// attributes, which e does not have, count.
func (p EmployeePatch) Changes(e Employee) bool {
	return p.Name != nil && *p.Name != e.Name ||
		p.Email != nil && *p.Email != e.Email ||
		p.Tags != nil && !slices.Equal(*p.Tags, e.Tags) ||
		p.Role != nil && *p.Role != e.Role ||
		p.ExternalID != nil && *p.ExternalID != e.ExternalID
}

// Apply returns e with the patch's fields; the membership is not touched.
func (p EmployeePatch) Apply(e Employee) Employee {
	if p.Name != nil {
		e.Name = *p.Name
	}
	if p.Email != nil {
		e.Email = *p.Email
	}
	if p.Tags != nil {
		e.Tags = *p.Tags
	}
	if p.Role != nil {
		e.Role = *p.Role
	}
	if p.ExternalID != nil {
		e.ExternalID = *p.ExternalID
	}
	return e
}

// EmployeePatched is the outcome of a patch: the employee, or that it was offboarded.
type EmployeePatched struct {
	Employee   Employee
	Offboarded bool
}

// RemovalReason is why employee.removed was sent.
type RemovalReason string

// The reasons.
const (
	ReasonOffboarded RemovalReason = "offboarded"
	ReasonDeleted    RemovalReason = "deleted"
)

// Errors about employees.
var (
	ErrEmployeeNotFound   = Errorf(CodeEmployeeNotFound, "There is no employee with this externalId. Provision the employee first.")
	ErrEmployeeOffboarded = Errorf(CodeEmployeeOffboarded, "This employee was offboarded. PATCH with active true, or provision the email again, to bring the person back.")
	ErrEmailTaken         = Errorf(CodeEmailTaken, "Another employee of the company has this email. Use another one, or change theirs first.")
	ErrExternalIDTaken    = Errorf(CodeExternalIDTaken, "Another employee of the company has this externalId. Use another one, or change theirs first.")
)

// ErrLargeEmployee reports that an employee has too many assignments to read them in one
// go. It is not for clients.
var ErrLargeEmployee = errors.New("the employee has too many assignments to be read in one go")

// CheckRole refuses a role that does not exist.
func CheckRole(r Role) error {
	switch r {
	case RoleEmployee, RoleManager, RoleAdmin:
		return nil
	}
	return errors.New("must be employee, manager or admin")
}
