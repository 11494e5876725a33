package store

import (
	"context"
	"strconv"
	"strings"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

const companyColumns = `c.id, c.name, c.time_zone, c.default_deadline_days, c.request_bodies, c.suspended_at, c.created_at`

func companyDest(c *domain.Company) []any {
	return []any{&c.ID, &c.Name, &c.TimeZone, &c.DefaultDeadlineDays, &c.RequestBodies, &c.SuspendedAt, &c.CreatedAt}
}

func companyEntry(id int64, by domain.Actor, action, detail string) domain.AuditEntry {
	return domain.AuditEntry{
		CompanyID: id, Actor: by, Action: action, RecordKind: "company", RecordID: strconv.FormatInt(id, 10), Detail: detail,
	}
}

// CreateCompany creates a company and a one-time link for its first administrator.
// A new identity is its administrator at once; one that is in use already joins
// when the link is used: see domain.SignInLink.
func (s *Store) CreateCompany(ctx context.Context, by domain.Actor, n domain.NewCompany, link domain.NewLink) (domain.Company, error) {
	out := domain.Company{Name: n.Name, TimeZone: n.TimeZone, DefaultDeadlineDays: domain.DefaultDeadlineDays}
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		if err := tx.Send(ctx, &db.Batch{}); err != nil {
			return err
		}
		out.CreatedAt = tx.Now()
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&out.ID) },
			`INSERT INTO companies (name, time_zone, default_deadline_days, created_at) VALUES ($1, $2, $3, $4) RETURNING id`,
			out.Name, out.TimeZone, out.DefaultDeadlineDays, out.CreatedAt)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		who, err := s.ensureAdministrator(ctx, tx, n.AdminEmail)
		if err != nil {
			return err
		}
		b = &db.Batch{}
		if !who.isClaimed() {
			addMember(b, tx.Now(), newMember{who, ownership(out.ID), by})
		}
		insertLink(b, tx.Now(), storedLink{link, who.ID, out.ID})
		markTotalsComplete(b, tx, out.ID)
		box.audit(b, tx.Now(), companyEntry(out.ID, by, "company.created", ""))
		box.audit(b, tx.Now(), administratorEntry(out.ID, by, "administrator.invited", who.ID))
		box.bumpVersion(b, domain.CacheTokens)
		tx.SendAndCommit(b)
		return nil
	})
	return out, err
}

// Company returns one company. Codes: company_not_found.
func (s *Store) Company(ctx context.Context, id int64) (domain.Company, error) {
	var out domain.Company
	found := false
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { found = true; return r.Scan(companyDest(&out)...) },
		`SELECT `+companyColumns+` FROM companies c WHERE c.id = $1`, id)
	if err := s.read(ctx, b); err != nil {
		return out, err
	}
	if !found {
		return out, domain.ErrCompanyNotFound(id)
	}
	return out, nil
}

// Companies returns a page of all companies by ascending id.
func (s *Store) Companies(ctx context.Context, p domain.PageRequest) (domain.Page[domain.Company], error) {
	out := domain.Page[domain.Company]{Items: []domain.Company{}}
	where := &conditions{}
	where.add("1 = 1")
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&out.Total) }, `SELECT count(*) FROM companies`)
	if p.After != nil {
		where.add("c.id > ?", p.After.ID)
	}
	text := `SELECT ` + companyColumns + ` FROM companies c` + where.where() + ` ORDER BY c.id` + where.limit(p)
	b.Query(func(r db.Rows) error {
		var c domain.Company
		err := r.Scan(companyDest(&c)...)
		out.Items = append(out.Items, c)
		return err
	}, text, where.args...)
	if err := s.read(ctx, b); err != nil {
		return out, err
	}
	out.Items, out.More = trimPage(out.Items, p.Limit)
	return out, nil
}

// UpdateCompany changes the settings. Codes: company_not_found.
func (s *Store) UpdateCompany(ctx context.Context, c domain.Caller, in domain.CompanySettings) (domain.Company, error) {
	return s.changeCompany(ctx, c.Company.ID, func(company *domain.Company, _ db.Tx) domain.AuditEntry {
		changed := in.Apply(company)
		if len(changed) == 0 {
			return domain.AuditEntry{}
		}
		return companyEntry(company.ID, c.Actor, "settings.changed", "Changed the "+strings.Join(changed, ", ")+".")
	})
}

// SuspendCompany suspends a company, whose tokens are refused from then on, or
// resumes it. Codes: company_not_found.
func (s *Store) SuspendCompany(ctx context.Context, by domain.Actor, id int64, suspended bool) (domain.Company, error) {
	return s.changeCompany(ctx, id, func(company *domain.Company, tx db.Tx) domain.AuditEntry {
		if company.Suspended() == suspended {
			return domain.AuditEntry{}
		}
		if !suspended {
			company.SuspendedAt = nil
			return companyEntry(id, by, "company.resumed", "")
		}
		now := tx.Now()
		company.SuspendedAt = &now
		return companyEntry(id, by, "company.suspended", "")
	})
}

// changeCompany locks the company, lets change edit it and stores it. Change returns
// the audit entry, or one without an action if it has changed nothing.
func (s *Store) changeCompany(ctx context.Context, id int64, change func(*domain.Company, db.Tx) domain.AuditEntry) (domain.Company, error) {
	var out domain.Company
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		found := false
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { found = true; return r.Scan(companyDest(&out)...) },
			`SELECT `+companyColumns+` FROM companies c WHERE c.id = $1`+s.db.ForUpdate("c"), id)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		if !found {
			return domain.ErrCompanyNotFound(id)
		}
		entry := change(&out, tx)
		if entry.Action == "" {
			return nil
		}
		b = &db.Batch{}
		b.Exec(`UPDATE companies SET name = $2, time_zone = $3, default_deadline_days = $4, suspended_at = $5, request_bodies = $6 WHERE id = $1`,
			out.ID, out.Name, out.TimeZone, out.DefaultDeadlineDays, out.SuspendedAt, out.RequestBodies)
		box.audit(b, tx.Now(), entry)
		box.bumpVersion(b, domain.CacheTokens)
		tx.SendAndCommit(b)
		return nil
	})
	return out, err
}
