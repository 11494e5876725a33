package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// CompanyCreated is a new company with the sign-in link of its first administrator.
type CompanyCreated struct {
	CompanyID  int64  `json:"companyId"`
	AdminEmail string `json:"adminEmail"`
	SignInURL  string `json:"signInUrl"`
}

func (c CompanyCreated) String() string {
	return fmt.Sprintf("Company %d was created. %s signs in once at:\n%s", c.CompanyID, c.AdminEmail, c.SignInURL)
}

// CreateCompany creates a company and its first administrator.
func (a *App) CreateCompany(ctx context.Context, name, admin, zone string) (CompanyCreated, error) {
	base, err := a.publicURL(ctx) // first: once the company is committed, nothing may keep the link from being printed
	if err != nil {
		return CompanyCreated{}, err
	}
	in := domain.NewCompany{Name: name, AdminEmail: admin, TimeZone: zone}
	company, token, err := a.companies.Create(ctx, operator(), in)
	if err != nil {
		return CompanyCreated{}, err
	}
	return CompanyCreated{CompanyID: company.ID, AdminEmail: admin, SignInURL: signInURL(base, token)}, nil
}

// signInURL returns the link that signs in once with a token.
func signInURL(base, token string) string { return base + "/cabinet/enter/" + token }

// CompanyList lists companies.
type CompanyList struct {
	Companies []CompanyLine `json:"companies"`
}

// CompanyLine describes one company.
type CompanyLine struct {
	ID        int64  `json:"id"`
	Name      string `json:"name"`
	TimeZone  string `json:"timeZone"`
	Suspended bool   `json:"suspended"`
	CreatedAt string `json:"createdAt"`
}

// Table implements Table.
func (l CompanyList) Table() (header []string, rows [][]string) {
	for _, c := range l.Companies {
		rows = append(rows, c.row())
	}
	return companyHeader, rows
}

var companyHeader = []string{"ID", "NAME", "TIME ZONE", "STATE", "CREATED"}

func (c CompanyLine) row() []string {
	state := "active"
	if c.Suspended {
		state = "suspended"
	}
	return []string{strconv.FormatInt(c.ID, 10), c.Name, c.TimeZone, state, c.CreatedAt}
}

// Table implements Table.
func (c CompanyLine) Table() (header []string, rows [][]string) {
	return companyHeader, [][]string{c.row()}
}

// ListCompanies returns every company.
func (a *App) ListCompanies(ctx context.Context) (CompanyList, error) {
	out := CompanyList{Companies: []CompanyLine{}}
	for page := 1; ; page++ {
		found, err := a.companies.List(ctx, domain.PageRequest{Number: page, Limit: domain.MaxLimit})
		if err != nil {
			return out, err
		}
		for _, c := range found.Items {
			out.Companies = append(out.Companies, companyLine(c))
		}
		if !found.More {
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

// ResumeCompany accepts a suspended company's tokens again.
func (a *App) ResumeCompany(ctx context.Context, id int64) (CompanyLine, error) {
	c, err := a.companies.Resume(ctx, operator(), id)
	return companyLine(c), err
}

// CompanyDeletion is what DeleteCompany deleted or, without confirmation, would delete:
// the number of rows by table.
type CompanyDeletion struct {
	ID      int64            `json:"id"`
	Name    string           `json:"name"`
	Deleted bool             `json:"deleted"`
	Rows    map[string]int64 `json:"rows"`
}

// Table implements Table.
func (c CompanyDeletion) Table() (header []string, rows [][]string) {
	header = []string{"TABLE", "DELETED ROWS"}
	if !c.Deleted {
		header[1] = "ROWS"
	}
	return header, countedRows(c.Rows)
}

// Footnote implements Footnote.
func (c CompanyDeletion) Footnote() string {
	if c.Deleted {
		return ""
	}
	return fmt.Sprintf("Nothing was deleted. To delete %s (company %d) for ever, add --confirm.", c.Name, c.ID)
}

// countedRows returns the names of tables with their numbers of rows.
func countedRows(counts map[string]int64) (rows [][]string) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		rows = append(rows, []string{name, strconv.FormatInt(counts[name], 10)})
	}
	return rows
}

// DeleteCompany counts a company's rows and, if confirmed, suspends the company and
// deletes them. Backups still have them.
func (a *App) DeleteCompany(ctx context.Context, id int64, confirmed bool) (CompanyDeletion, error) {
	company, err := a.companies.Get(ctx, id)
	if err != nil {
		return CompanyDeletion{}, err
	}
	out := CompanyDeletion{ID: id, Name: company.Name, Deleted: confirmed}
	if out.Rows, err = a.store.CountCompanyRows(ctx, id); err != nil || !confirmed {
		return out, err
	}
	if _, err := a.companies.Suspend(ctx, operator(), id); err != nil {
		return out, err
	}
	if err := a.store.DeleteCompany(ctx, operator(), id); err != nil {
		return out, errors.Join(errors.New("the company was not deleted completely; run the command again"), err)
	}
	a.store.Engine().ScrubDeleted(ctx)
	return out, nil
}
