package store

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

const administratorColumns = `a.id, a.email, a.name, a.theme, a.created_at, a.last_sign_in_at,
	coalesce(a.password_hash, ''), a.password_changed_at, a.totp_secret, a.totp_confirmed_at, a.recovery_hashes`

// administratorRow is a stored administrator with the ids of their companies.
type administratorRow struct {
	domain.Administrator
	domain.Credentials
	companies []int64
}

// isClaimed reports whether the identity is in use: it has a password or serves a
// company.
func (a *administratorRow) isClaimed() bool { return a.PasswordHash != "" || len(a.companies) > 0 }

func (a *administratorRow) scan(r db.Rows, more ...any) error {
	var recovery string
	dest := append([]any{
		&a.ID, &a.Email, &a.Name, &a.Theme, &a.CreatedAt, &a.LastSignInAt,
		&a.PasswordHash, &a.PasswordChangedAt, &a.TOTPSecret, &a.SecondFactorSince, &recovery,
	}, more...)
	if err := r.Scan(dest...); err != nil {
		return err
	}
	var err error
	a.RecoveryHashes, err = decodeList[string](recovery)
	a.TOTPConfirmed = a.SecondFactorSince != nil
	a.HasPassword, a.HasSecondFactor, a.RecoveryLeft = a.PasswordHash != "", a.TOTPConfirmed, len(a.RecoveryHashes)
	return err
}

func administratorEntry(company int64, by domain.Actor, action string, id int64, detail string) domain.AuditEntry {
	return domain.AuditEntry{
		CompanyID: company, Actor: by, Action: action, RecordKind: "administrator", RecordID: strconv.FormatInt(id, 10), Detail: detail,
	}
}

// auditAll queues an entry about an administrator in the log of each of their
// companies.
func (o *outbox) auditAll(b *db.Batch, now time.Time, who *administratorRow, by domain.Actor, action, detail string) {
	for _, company := range who.companies {
		o.audit(b, now, administratorEntry(company, by, action, who.ID, detail))
	}
}

// ensureAdministrator finds or creates the identity of an address, and locks it.
func (s *Store) ensureAdministrator(ctx context.Context, tx db.Tx, email string) (*administratorRow, error) {
	folded := domain.FoldEmail(email)
	_, err := tx.Exec(ctx, `INSERT INTO administrators (email, email_folded, name, recovery_hashes, theme, created_at)
		VALUES ($1, $2, '', '[]', $3, $4) ON CONFLICT (email_folded) DO NOTHING`, email, folded, domain.Themes[0], tx.Now())
	if err != nil {
		return nil, err
	}
	who, err := s.lockAdministrator(ctx, tx, `a.email_folded = $1`, folded)
	if errors.Is(err, domain.ErrAdministratorNotFound) {
		return nil, errGone // removed by SweepSignIn in the meantime
	}
	return who, err
}

// lockAdministrator locks an identity. It reads the companies in a second
// statement, which sees what was committed while the first waited for the lock.
func (s *Store) lockAdministrator(ctx context.Context, tx db.Tx, condition string, arg any) (*administratorRow, error) {
	out := &administratorRow{}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return out.scan(r) },
		`SELECT `+administratorColumns+` FROM administrators a WHERE `+condition+s.db.ForUpdate("a"), arg)
	b.Query(func(r db.Rows) error {
		var company int64
		err := r.Scan(&company)
		out.companies = append(out.companies, company)
		return err
	}, `SELECT m.company_id FROM company_administrators m JOIN administrators a ON a.id = m.administrator_id
		WHERE `+condition+` ORDER BY m.company_id`, arg)
	if err := tx.Send(ctx, b); err != nil {
		return nil, err
	}
	if out.ID == 0 {
		return nil, domain.ErrAdministratorNotFound
	}
	return out, nil
}

func (s *Store) lockAdministratorID(ctx context.Context, tx db.Tx, id int64) (*administratorRow, error) {
	return s.lockAdministrator(ctx, tx, `a.id = $1`, id)
}

// Administrator returns an administrator with their credentials. Codes: not_found.
func (s *Store) Administrator(ctx context.Context, id int64) (domain.Administrator, domain.Credentials, error) {
	return s.administrator(ctx, `a.id = $1`, id)
}

// AdministratorByEmail returns an administrator who serves a company, with their
// credentials. Codes: not_found.
func (s *Store) AdministratorByEmail(ctx context.Context, email string) (domain.Administrator, domain.Credentials, error) {
	return s.administrator(ctx, `a.email_folded = $1 AND EXISTS
		(SELECT 1 FROM company_administrators m WHERE m.administrator_id = a.id)`, domain.FoldEmail(email))
}

func (s *Store) administrator(ctx context.Context, condition string, arg any) (domain.Administrator, domain.Credentials, error) {
	var out administratorRow
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return out.scan(r) },
		`SELECT `+administratorColumns+` FROM administrators a WHERE `+condition, arg)
	err := s.read(ctx, b)
	if err == nil && out.ID == 0 {
		err = domain.ErrAdministratorNotFound
	}
	return out.Administrator, out.Credentials, err
}

// AdministratorCompanies returns an administrator and their companies by ascending
// id. Codes: not_found.
func (s *Store) AdministratorCompanies(ctx context.Context, id int64) (domain.Administrator, []domain.Company, error) {
	var out administratorRow
	var companies []domain.Company
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return out.scan(r) }, `SELECT `+administratorColumns+` FROM administrators a WHERE a.id = $1`, id)
	b.Query(func(r db.Rows) error {
		var c domain.Company
		err := r.Scan(companyDest(&c)...)
		companies = append(companies, c)
		return err
	}, `SELECT `+companyColumns+` FROM company_administrators m JOIN companies c ON c.id = m.company_id
		WHERE m.administrator_id = $1 ORDER BY c.id`, id)
	err := s.read(ctx, b)
	if err == nil && out.ID == 0 {
		err = domain.ErrAdministratorNotFound
	}
	return out.Administrator, companies, err
}

// Members returns a company's administrators and its open invitations.
func (s *Store) Members(ctx context.Context, company int64) ([]domain.Member, []domain.Invitation, error) {
	members, invited := []domain.Member{}, []domain.Invitation{}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var a administratorRow
		var m domain.Member
		err := a.scan(r, &m.AddedAt, &m.AddedBy)
		m.Administrator = a.Administrator
		members = append(members, m)
		return err
	}, `SELECT `+administratorColumns+`, m.added_at, `+actorLabel("m.added_by")+`
		FROM company_administrators m JOIN administrators a ON a.id = m.administrator_id
		WHERE m.company_id = $1 ORDER BY m.added_at, a.id`, company)
	b.Query(func(r db.Rows) error {
		var i domain.Invitation
		err := r.Scan(&i.AdministratorID, &i.Email, &i.Name, &i.CreatedAt, &i.ExpiresAt)
		invited = append(invited, i)
		return err
	}, `SELECT a.id, a.email, l.name, l.created_at, l.expires_at
		FROM sign_in_links l JOIN administrators a ON a.id = l.administrator_id
		WHERE l.for_company_id = $1 AND l.used_at IS NULL AND NOT EXISTS
		(SELECT 1 FROM company_administrators m WHERE m.company_id = $1 AND m.administrator_id = a.id)
		ORDER BY l.created_at, a.id`, company)
	return members, invited, s.read(ctx, b)
}

// addMember queues that an administrator serves a company. Someone who was invited
// counts as added by the author of the invitation, who is in the audit log.
func addMember(b *db.Batch, company, administrator int64, by domain.Actor, now time.Time) {
	b.Exec(`INSERT INTO company_administrators (company_id, administrator_id, added_at, added_by)
		VALUES ($1, $2, $3, coalesce((SELECT CASE WHEN e.actor_kind = 'person' THEN 'person:' || e.actor_id ELSE e.actor_label END FROM audit_entries e
			WHERE e.company_id = $1 AND e.action = 'administrator.invited' AND e.record_id = $4 ORDER BY e.id DESC LIMIT 1), $5))
		ON CONFLICT DO NOTHING`, company, administrator, now, strconv.FormatInt(administrator, 10), by.Ref())
}

// RemoveAdministrator removes an administrator from a company, unless they are its
// last one. Someone who serves no company any more is signed out and can't sign in.
// Codes: not_found, invalid_request.
func (s *Store) RemoveAdministrator(ctx context.Context, c domain.Caller, id int64) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		who, err := s.lockAdministratorID(ctx, tx, id)
		if err != nil {
			return err
		}
		// All of the company's rows are locked, so that two who remove each other take turns.
		var all []int64
		b := &db.Batch{}
		b.Query(func(r db.Rows) error {
			var other int64
			err := r.Scan(&other)
			all = append(all, other)
			return err
		}, `SELECT m.administrator_id FROM company_administrators m WHERE m.company_id = $1
			ORDER BY m.administrator_id`+s.db.ForUpdate("m"), c.Company.ID)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		if !slices.Contains(all, id) {
			return domain.ErrAdministratorNotFound
		}
		if len(all) == 1 {
			return domain.ErrLastAdministrator
		}
		b = &db.Batch{}
		b.One(errGone, `DELETE FROM company_administrators WHERE company_id = $1 AND administrator_id = $2`, c.Company.ID, id)
		b.Exec(`DELETE FROM sign_in_links WHERE administrator_id = $1 AND for_company_id = $2 AND used_at IS NULL`, id, c.Company.ID)
		if !slices.ContainsFunc(who.companies, func(other int64) bool { return other != c.Company.ID }) {
			b.Exec(`UPDATE administrators SET password_hash = NULL, password_changed_at = NULL, totp_secret = NULL,
				totp_confirmed_at = NULL, recovery_hashes = '[]' WHERE id = $1`, id)
			b.Exec(`DELETE FROM sign_in_links WHERE administrator_id = $1 AND for_company_id = 0`, id)
			b.Exec(`DELETE FROM sessions WHERE administrator_id = $1`, id)
		}
		box.audit(b, tx.Now(), administratorEntry(c.Company.ID, c.Actor, "administrator.removed", id, ""))
		return tx.Send(ctx, b)
	})
}

var errGone = errors.Join(db.ErrRetry, errors.New("the row was taken away meanwhile"))

// SetProfile stores an administrator's own settings. Codes: not_found.
func (s *Store) SetProfile(ctx context.Context, id int64, p domain.Profile) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		n, err := tx.Exec(ctx, `UPDATE administrators SET name = $2, theme = $3 WHERE id = $1`, id, p.Name, p.Theme)
		if err == nil && n != 1 {
			return domain.ErrAdministratorNotFound
		}
		return err
	})
}
