package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/secret"
)

// CompanyCreated is a new company and the way in for its first administrator.
type CompanyCreated struct {
	CompanyID  int64  `json:"companyId"`
	AdminEmail string `json:"adminEmail"`
	SignInURL  string `json:"signInUrl"`
}

func (c CompanyCreated) String() string {
	return fmt.Sprintf("Company %d is there. %s signs in once at:\n%s", c.CompanyID, c.AdminEmail, c.SignInURL)
}

// CreateCompany makes a company and its first administrator.
func (a *App) CreateCompany(ctx context.Context, name, admin, zone string) (CompanyCreated, error) {
	in := domain.NewCompany{Name: name, AdminEmail: admin, TimeZone: zone}
	company, token, err := a.companies.Create(ctx, operator(), in)
	if err != nil {
		return CompanyCreated{}, err
	}
	link, err := a.signInURL(ctx, token)
	return CompanyCreated{CompanyID: company.ID, AdminEmail: admin, SignInURL: link}, err
}

func (a *App) signInURL(ctx context.Context, token string) (string, error) {
	base, err := a.publicURL(ctx)
	return base + "/cabinet/enter/" + token, err
}

// CompanyList is every company.
type CompanyList struct {
	Companies []CompanyLine `json:"companies"`
}

// CompanyLine is one company of a list.
type CompanyLine struct {
	ID        int64  `json:"id"`
	Name      string `json:"name"`
	TimeZone  string `json:"timeZone"`
	Suspended bool   `json:"suspended"`
	CreatedAt string `json:"createdAt"`
}

// ListCompanies gives every company.
func (a *App) ListCompanies(ctx context.Context) (CompanyList, error) {
	out := CompanyList{Companies: []CompanyLine{}}
	for page := 1; ; page++ {
		slice, err := a.companies.List(ctx, domain.PageRequest{Number: page, Limit: domain.MaxLimit})
		if err != nil {
			return out, err
		}
		for _, c := range slice.Items {
			out.Companies = append(out.Companies, companyLine(c))
		}
		if !slice.More {
			return out, nil
		}
	}
}

func companyLine(c domain.Company) CompanyLine {
	return CompanyLine{
		ID: c.ID, Name: c.Name, TimeZone: c.TimeZone, Suspended: c.Suspended(), CreatedAt: domain.FormatInstant(c.CreatedAt),
	}
}

// SuspendCompany refuses a company's tokens until it is resumed.
func (a *App) SuspendCompany(ctx context.Context, id int64) (CompanyLine, error) {
	c, err := a.companies.Suspend(ctx, operator(), id)
	return companyLine(c), err
}

// ResumeCompany lets a suspended company go on.
func (a *App) ResumeCompany(ctx context.Context, id int64) (CompanyLine, error) {
	c, err := a.companies.Resume(ctx, operator(), id)
	return companyLine(c), err
}

// CourseInput is a course as an operator gives it.
type CourseInput struct {
	Name       string
	ExternalID string
	Assessment bool
	PassMark   float64
	Attempts   int
	Modules    []string
}

// CourseAdded is a new course.
type CourseAdded struct {
	CourseID int64 `json:"courseId"`
}

func (c CourseAdded) String() string { return fmt.Sprintf("Course %d is there.", c.CourseID) }

// AddCourse makes a course of a company.
func (a *App) AddCourse(ctx context.Context, company int64, in CourseInput) (CourseAdded, error) {
	c, err := a.caller(ctx, company)
	if err != nil {
		return CourseAdded{}, err
	}
	var checks domain.Checks
	mark, err := domain.ParsePoints(in.PassMark)
	checks.Add("pass-mark", err)
	if err := checks.Err(); err != nil {
		return CourseAdded{}, err
	}
	id, err := a.learning.AddCourse(ctx, c, domain.Course{
		Name: in.Name, ExternalID: in.ExternalID, IsAssessment: in.Assessment, PassMark: mark,
		AllowedAttempts: in.Attempts, Modules: in.Modules,
	})
	return CourseAdded{CourseID: id}, err
}

// SliceCourse cuts a course from some modules of another one.
func (a *App) SliceCourse(ctx context.Context, company, course int64, name string, modules []int) (CourseAdded, error) {
	c, err := a.caller(ctx, company)
	if err != nil {
		return CourseAdded{}, err
	}
	id, err := a.learning.CutSlice(ctx, c, course, name, modules)
	return CourseAdded{CourseID: id}, err
}

// AdminLink is a way in for an administrator.
type AdminLink struct {
	Email     string `json:"email"`
	SignInURL string `json:"signInUrl"`
}

func (l AdminLink) String() string {
	return fmt.Sprintf("%s signs in once at:\n%s", l.Email, l.SignInURL)
}

// AdminLink makes a one-time sign-in link.
func (a *App) AdminLink(ctx context.Context, email string, company int64, dropFactor bool) (AdminLink, error) {
	in := domain.LinkRequest{Email: email, CompanyID: company, DropSecondFactor: dropFactor}
	who, token, err := a.administrators.LinkFor(ctx, operator(), in)
	if err != nil {
		return AdminLink{}, err
	}
	link, err := a.signInURL(ctx, token)
	return AdminLink{Email: who.Email, SignInURL: link}, err
}

// Migrated is a schema that fits the program.
type Migrated struct {
	Status string `json:"status"`
}

func (m Migrated) String() string { return "The database is " + m.Status + "." }

// Migrated checks the schema; Open has brought it up to date.
func (a *App) Migrated(ctx context.Context) (Migrated, error) {
	return Migrated{Status: "up to date"}, a.store.Engine().Migrated(ctx)
}

// BackedUp is a copy of the database, and of the key file that it needs, if it does.
type BackedUp struct {
	File    string `json:"file"`
	KeyFile string `json:"keyFile,omitempty"`
}

func (b BackedUp) String() string {
	text := "The database was copied to " + b.File + "."
	if b.KeyFile != "" {
		text += "\nIts key was copied to " + b.KeyFile + "; the copy can't be opened without it, so keep both, and the key safe."
	}
	return text
}

// Backup writes a consistent copy to a new file, and the key that opens it beside.
func (a *App) Backup(ctx context.Context, file string) (BackedUp, error) {
	out := BackedUp{File: file}
	if a.keyFile == "" || a.config.SecretKey != "" {
		return out, a.store.Engine().Backup(ctx, file)
	}
	out.KeyFile = file + keySuffix
	if err := secret.CopyKeyFile(a.keyFile, out.KeyFile); err != nil {
		return out, err
	}
	err := a.store.Engine().Backup(ctx, file)
	if err != nil {
		err = errors.Join(err, os.Remove(out.KeyFile))
	}
	return out, err
}

// Version is the program's version.
type Version struct {
	Version string `json:"version"`
}

func (v Version) String() string { return v.Version }

// VersionOf wraps a version for printing.
func VersionOf(version string) Version { return Version{Version: version} }
