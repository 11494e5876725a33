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
	coalesce(a.password_hash, ''), a.password_changed_at, a.totp_secret, a.totp_confirmed_at, a.recovery_hashes, a.vouched_at`

// administratorRow is a stored administrator with the ids of their companies.
type administratorRow struct {
	domain.Administrator
	domain.Credentials
	companies []int64
	vouchedAt *time.Time // nil: no operator's link was ever used
}

// isClaimed reports whether the identity is in use: it has a password or serves a
// company.
func (a *administratorRow) isClaimed() bool { return a.PasswordHash != "" || len(a.companies) > 0 }

func (a *administratorRow) scan(r db.Rows, more ...any) error {
	var recovery string
	dest := append([]any{
		&a.ID, &a.Email, &a.Name, &a.Theme, &a.CreatedAt, &a.LastSignInAt,
		&a.PasswordHash, &a.PasswordChangedAt, &a.TOTPSecret, &a.SecondFactorSince, &recovery, &a.vouchedAt,
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

func administratorEntry(company int64, by domain.Actor, action string, id int64) domain.AuditEntry {
	return domain.AuditEntry{
		CompanyID: company, Actor: by, Action: action, RecordKind: "administrator", RecordID: strconv.FormatInt(id, 10),
	}
}

// entries returns the audit entries of what an administrator did about themselves,
// one for every company they serve. Sign-ins are for auditSignIn.
func (a *administratorRow) entries(by domain.Actor, action string) (out []domain.AuditEntry) {
	for _, company := range a.companies {
		out = append(out, administratorEntry(company, by, action, a.ID))
	}
	return out
}

// signIn is a sign-in that succeeded; detail is the sentence for the audit log.
type signIn struct {
	who    *administratorRow
	by     domain.Actor
	detail string
}

// auditSignIn writes a sign-in into the log of the company that is entered: what
// happens at others is none of its business.
func (o *outbox) auditSignIn(b *db.Batch, now time.Time, in signIn) {
	company := in.who.entered()
	if company == 0 {
		return
	}
	b.Exec(`UPDATE company_administrators SET last_sign_in_at = $3 WHERE company_id = $1 AND administrator_id = $2`, company, in.who.ID, now)
	entry := administratorEntry(company, in.by, "sign_in.succeeded", in.who.ID)
	entry.Detail = in.detail
	o.audit(b, now, entry)
}

// entered is the company that a sign-in leads into, 0 for none.
func (a *administratorRow) entered() int64 {
	if len(a.companies) == 0 {
		return 0
	}
	return slices.Min(a.companies)
}

// ensureAdministrator finds or makes the identity of an address, and locks it.
func (s *Store) ensureAdministrator(ctx context.Context, tx db.Tx, email string) (*administratorRow, error) {
	folded := domain.FoldEmail(email)
	_, err := tx.Exec(ctx, `INSERT INTO administrators (email, email_folded, name, recovery_hashes, theme, created_at)
		VALUES ($1, $2, '', '[]', $3, $4) ON CONFLICT (email_folded) DO NOTHING`, email, folded, domain.Themes[0], tx.Now())
	if err != nil {
		return nil, err
	}
	who, err := s.lockAdministrator(ctx, tx, `a.email_folded = $1`, folded)
	if errors.Is(err, domain.ErrAdministratorNotFound) {
		return nil, errGone // removed since the insertion found it
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
	b.Query(appendColumn(&out.companies), `SELECT m.company_id FROM company_administrators m JOIN administrators a ON a.id = m.administrator_id
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

// Memberships returns an administrator and the companies they serve, by ascending
// id. Codes: not_found.
func (s *Store) Memberships(ctx context.Context, id int64) (domain.Administrator, []domain.Membership, error) {
	var out administratorRow
	var companies []domain.Membership
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return out.scan(r) }, `SELECT `+administratorColumns+` FROM administrators a WHERE a.id = $1`, id)
	b.Query(func(r db.Rows) error {
		var m domain.Membership
		err := r.Scan(append(companyDest(&m.Company), &m.Role)...)
		companies = append(companies, m)
		return err
	}, `SELECT `+companyColumns+`, m.role FROM company_administrators m JOIN companies c ON c.id = m.company_id
		WHERE m.administrator_id = $1 ORDER BY c.id`, id)
	err := s.read(ctx, b)
	if err == nil && out.ID == 0 {
		err = domain.ErrAdministratorNotFound
	}
	return out.Administrator, companies, err
}

// EnterCompany records that a signed-in administrator works for another of their
// companies from now on. Codes: company_not_found.
func (s *Store) EnterCompany(ctx context.Context, by domain.Actor, company int64) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		who, err := s.lockAdministratorID(ctx, tx, by.ID)
		if err != nil {
			return err
		}
		if !slices.Contains(who.companies, company) {
			return domain.ErrCompanyNotFound(company)
		}
		who.companies = []int64{company}
		b := &db.Batch{}
		box.auditSignIn(b, tx.Now(), signIn{who, by, "By switching to this company."})
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
