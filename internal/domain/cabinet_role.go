package domain

import "errors"

// CabinetRole is what an administrator may do in a company's cabinet.
type CabinetRole string

// The roles, from the one that may do everything.
const (
	CabinetOwner         CabinetRole = "owner"         // everything
	CabinetAdministrator CabinetRole = "administrator" // everything but administrators and company settings
	CabinetViewer        CabinetRole = "viewer"        // sees everything but secrets, changes nothing
)

// CheckCabinetRole refuses a role that does not exist.
func CheckCabinetRole(r CabinetRole) error {
	switch r {
	case CabinetOwner, CabinetAdministrator, CabinetViewer:
		return nil
	}
	return errors.New("must be owner, administrator or viewer")
}

// Permission is what an act on a company needs of the person who does it.
type Permission int

// The permissions. Reading needs none.
const (
	// PermissionChange is needed to change anything and to see secrets.
	PermissionChange Permission = iota + 1
	// PermissionManage is needed for administrators and company settings.
	PermissionManage
)

// Membership is a company that an administrator serves, with their role there.
type Membership struct {
	Company
	Role CabinetRole
}

// Authorize reports whether the caller may do what needs the permission. People are
// bound by their role, and nobody but the operator and the platform changes a
// suspended company. Codes: insufficient_role, company_suspended.
func (c Caller) Authorize(need Permission) error {
	if c.Actor.Kind != ActorPerson && c.Actor.Kind != ActorToken {
		return nil
	}
	if c.Company.Suspended() {
		return ErrCompanyReadOnly
	}
	if c.Actor.Kind == ActorToken {
		return nil
	}
	switch {
	case c.Role == CabinetOwner, c.Role == CabinetAdministrator && need == PermissionChange:
		return nil
	case need == PermissionManage:
		return ErrOwnersOnly
	}
	return ErrViewerOnly
}

// Errors about what a caller may not do.
var (
	ErrCompanyReadOnly = Errorf(CodeCompanySuspended, "The company is suspended, so nothing can be changed. Contact the operator of the learning platform.")
	ErrOwnersOnly      = Errorf(CodeInsufficientRole, "Only owners of the company may do this. Ask one of them.")
	ErrViewerOnly      = Errorf(CodeInsufficientRole, "Your role only allows you to look. Ask an owner of the company for another role.")
)
