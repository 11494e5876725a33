package domain

import (
	"fmt"
	"time"
)

// DefaultDeadlineDays is the default deadline of an assignment, in days.
const DefaultDeadlineDays = 30

// Company is a customer: everything a token can see belongs to one.
type Company struct {
	ID                  int64
	Name                string
	TimeZone            string
	DefaultDeadlineDays int
	RequestBodies       RequestBodies
	SuspendedAt         *time.Time
	CreatedAt           time.Time
}

// Suspended reports whether the company's tokens are refused for now.
func (c Company) Suspended() bool { return c.SuspendedAt != nil }

// Location returns the company's time zone. One that cannot be loaded is an error:
// times of another zone would look right and be wrong.
func (c Company) Location() (*time.Location, error) {
	loc, err := time.LoadLocation(c.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("load the time zone of company %d: %w", c.ID, err)
	}
	return loc, nil
}

// CheckTimeZone refuses a name that is not an IANA time zone.
func CheckTimeZone(name string) error {
	if _, err := time.LoadLocation(name); err != nil || name == "" || name == "Local" {
		return fmt.Errorf("must be an IANA time zone such as Europe/Riga")
	}
	return nil
}

// NewCompany is what it takes to make one.
type NewCompany struct {
	Name       string
	AdminEmail string
	TimeZone   string
}

// Normalize normalises the input and reports every field that is wrong.
func (n *NewCompany) Normalize() error {
	var c Checks
	var err error
	n.Name, err = NormalizeName(n.Name)
	c.Add("name", err)
	n.AdminEmail, err = NormalizeEmail(n.AdminEmail)
	c.Add("admin", err)
	if n.TimeZone == "" {
		n.TimeZone = "UTC"
	}
	c.Add("timeZone", CheckTimeZone(n.TimeZone))
	return c.Err()
}

// MaxDeadlineDays is the longest default deadline.
const MaxDeadlineDays = 3650

// CompanySettings changes a company; nil fields stay.
type CompanySettings struct {
	Name                *string
	TimeZone            *string
	DefaultDeadlineDays *int
	RequestBodies       *RequestBodies
}

// Normalize normalises the input and reports every field that is wrong.
func (s *CompanySettings) Normalize() error {
	var c Checks
	if s.Name != nil {
		name, err := NormalizeName(*s.Name)
		c.Add("name", err)
		s.Name = &name
	}
	if s.TimeZone != nil {
		c.Add("timeZone", CheckTimeZone(*s.TimeZone))
	}
	if days := s.DefaultDeadlineDays; days != nil && (*days < 1 || *days > MaxDeadlineDays) {
		c.Add("defaultDeadlineDays", fmt.Errorf("must be from 1 to %d", MaxDeadlineDays))
	}
	if s.RequestBodies != nil {
		c.Add("requestBodies", s.RequestBodies.Check())
	}
	return c.Err()
}

// Apply changes the company and names what differs from before.
func (s CompanySettings) Apply(c *Company) (changed []string) {
	if s.Name != nil && *s.Name != c.Name {
		c.Name, changed = *s.Name, append(changed, "name")
	}
	if s.TimeZone != nil && *s.TimeZone != c.TimeZone {
		c.TimeZone, changed = *s.TimeZone, append(changed, "time zone")
	}
	if s.DefaultDeadlineDays != nil && *s.DefaultDeadlineDays != c.DefaultDeadlineDays {
		c.DefaultDeadlineDays, changed = *s.DefaultDeadlineDays, append(changed, "default deadline")
	}
	if s.RequestBodies != nil && *s.RequestBodies != c.RequestBodies {
		c.RequestBodies, changed = *s.RequestBodies, append(changed, "log of failed requests")
	}
	return changed
}

// ErrCompanySuspended refuses what a suspended company may not do.
var ErrCompanySuspended = Errorf(CodeCompanySuspended, "The company is suspended. Contact the operator of the learning platform.")

// ErrCompanyNotFound reports that no company has this id.
func ErrCompanyNotFound(id int64) *Error {
	return Errorf(CodeCompanyNotFound, "There is no company with id %d. List the companies to find the right one.", id)
}
