package store

import (
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// insertLink queues a new one-time link, which replaces an unused one for the same
// administrator and company.
func insertLink(b *db.Batch, link domain.NewLink, administrator, company int64, now time.Time) {
	b.Exec(`DELETE FROM sign_in_links WHERE administrator_id = $1 AND for_company_id = $2 AND used_at IS NULL`, administrator, company)
	b.Exec(`INSERT INTO sign_in_links (hash, administrator_id, for_company_id, name, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		link.Hash[:], administrator, company, link.Name, now, now.Add(link.Lifetime))
}

// Invite invites someone to become an administrator of the caller's company. A
// second invitation replaces the link of the first. Codes: invalid_request.
func (s *Store) Invite(ctx context.Context, c domain.Caller, email string, link domain.NewLink) (domain.Administrator, error) {
	var out domain.Administrator
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		if err := tx.Send(ctx, &db.Batch{}); err != nil {
			return err
		}
		who, err := s.ensureAdministrator(ctx, tx, email)
		if err != nil {
			return err
		}
		out = who.Administrator
		if slices.Contains(who.companies, c.Company.ID) {
			return domain.Invalid(domain.FieldError{Field: "email", Message: "is an administrator of the company already"})
		}
		b := &db.Batch{}
		insertLink(b, link, who.ID, c.Company.ID, tx.Now())
		box.audit(b, tx.Now(), administratorEntry(c.Company.ID, c.Actor, "administrator.invited", who.ID, ""))
		return tx.Send(ctx, b)
	})
	return out, err
}

// Uninvite withdraws an invitation to the caller's company. Codes: not_found.
func (s *Store) Uninvite(ctx context.Context, c domain.Caller, administrator int64) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		n, err := tx.Exec(ctx, `DELETE FROM sign_in_links WHERE administrator_id = $1 AND for_company_id = $2 AND used_at IS NULL`,
			administrator, c.Company.ID)
		if err != nil {
			return err
		}
		if n == 0 {
			return domain.ErrInvitationNotFound
		}
		b := &db.Batch{}
		box.audit(b, tx.Now(), administratorEntry(c.Company.ID, c.Actor, "administrator.uninvited", administrator, ""))
		tx.SendAndCommit(b)
		return nil
	})
}

// MakeLink creates the operator's sign-in link for an address. It leads into the
// given company or, for company 0, into those that the administrator serves
// already. Codes: not_found, company_not_found, invalid_request.
func (s *Store) MakeLink(ctx context.Context, by domain.Actor, in domain.LinkRequest, link domain.NewLink) (domain.Administrator, error) {
	var out domain.Administrator
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		who, err := s.linkTarget(ctx, tx, in)
		if err != nil {
			return err
		}
		out = who.Administrator
		b := &db.Batch{}
		if in.CompanyID != 0 && !who.isClaimed() {
			addMember(b, in.CompanyID, who.ID, by, tx.Now())
		}
		if in.CompanyID != 0 && !slices.Contains(who.companies, in.CompanyID) {
			box.audit(b, tx.Now(), administratorEntry(in.CompanyID, by, "administrator.invited", who.ID, ""))
		}
		if in.DropSecondFactor && who.TOTPConfirmed {
			dropFactor(b, who.ID)
			box.auditAll(b, tx.Now(), who, by, "second_factor.removed", "")
		}
		insertLink(b, link, who.ID, in.CompanyID, tx.Now())
		box.auditAll(b, tx.Now(), who, by, "administrator.link_made", "")
		return tx.Send(ctx, b)
	})
	return out, err
}

func (s *Store) linkTarget(ctx context.Context, tx db.Tx, in domain.LinkRequest) (*administratorRow, error) {
	if in.CompanyID != 0 {
		exists := false
		b := &db.Batch{}
		b.Query(func(db.Rows) error { exists = true; return nil }, `SELECT 1 FROM companies WHERE id = $1`, in.CompanyID)
		if err := tx.Send(ctx, b); err != nil {
			return nil, err
		}
		if !exists {
			return nil, domain.ErrCompanyNotFound(in.CompanyID)
		}
		return s.ensureAdministrator(ctx, tx, in.Email)
	}
	who, err := s.lockAdministrator(ctx, tx, `a.email_folded = $1`, domain.FoldEmail(in.Email))
	if err != nil {
		return nil, err
	}
	if len(who.companies) == 0 {
		return nil, domain.Invalid(domain.FieldError{Field: "company", Message: "must be named: this administrator serves no company yet"})
	}
	return who, nil
}

// linkQuery queues the reading of a valid link, without locking it. The kind of the
// link is in its token, and left to the caller.
func linkQuery(b *db.Batch, hash [sha256.Size]byte, now time.Time, into *domain.SignInLink) {
	b.Query(func(r db.Rows) error {
		var a administratorRow
		err := a.scan(r, &into.CompanyID, &into.CompanyName, &into.ExpiresAt, &into.Claimed)
		into.Administrator = a.Administrator
		into.Claimed = into.Claimed || a.HasPassword
		return err
	}, `SELECT `+administratorColumns+`, l.for_company_id, coalesce(c.name, ''), l.expires_at,
		EXISTS (SELECT 1 FROM company_administrators m WHERE m.administrator_id = a.id)
		FROM sign_in_links l JOIN administrators a ON a.id = l.administrator_id LEFT JOIN companies c ON c.id = l.for_company_id
		WHERE l.hash = $1 AND l.used_at IS NULL AND l.expires_at > $2`, hash[:], now)
}

// SignInLink returns a valid link; its kind is not stored. Codes: not_found.
func (s *Store) SignInLink(ctx context.Context, hash [sha256.Size]byte) (domain.SignInLink, error) {
	var out domain.SignInLink
	b := &db.Batch{}
	linkQuery(b, hash, s.Now(), &out)
	err := s.read(ctx, b)
	if err == nil && out.Administrator.ID == 0 {
		err = domain.ErrLinkNotFound
	}
	return out, err
}

// useLink locks the administrator of a link, and marks the link as used.
func (s *Store) useLink(ctx context.Context, tx db.Tx, hash [sha256.Size]byte) (who *administratorRow, company int64, err error) {
	var administrator int64
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&administrator, &company) },
		`SELECT administrator_id, for_company_id FROM sign_in_links WHERE hash = $1`, hash[:])
	if err := tx.Send(ctx, b); err != nil {
		return nil, 0, err
	}
	if administrator == 0 {
		return nil, 0, domain.ErrLinkNotFound
	}
	if who, err = s.lockAdministratorID(ctx, tx, administrator); err != nil {
		return nil, 0, err
	}
	n, err := tx.Exec(ctx, `UPDATE sign_in_links SET used_at = $2 WHERE hash = $1 AND used_at IS NULL AND expires_at > $2`, hash[:], tx.Now())
	if err == nil && n != 1 {
		err = domain.ErrLinkNotFound
	}
	return who, company, err
}

// EnterByLink signs the link's administrator in. It clears the password, which has
// to be set again, and ends all other sessions. Codes: not_found, unauthorized.
func (s *Store) EnterByLink(ctx context.Context, hash [sha256.Size]byte, kind domain.LinkKind, proof domain.SignInProof) (domain.Administrator, error) {
	var out domain.Administrator
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		who, company, err := s.useLink(ctx, tx, hash)
		if err != nil {
			return err
		}
		link := domain.SignInLink{Kind: kind, Claimed: who.isClaimed()}
		if !link.SignsIn() {
			return domain.ErrLinkNeedsSignIn
		}
		if err := s.consumeFactor(ctx, tx, who, proof); err != nil {
			return err
		}
		now := tx.Now()
		by := personActor(who.Administrator, proof.Actor)
		b := &db.Batch{}
		b.Exec(`UPDATE administrators SET password_hash = NULL, last_sign_in_at = $2 WHERE id = $1`, who.ID, now)
		b.Exec(`UPDATE administrators SET name = (SELECT l.name FROM sign_in_links l WHERE l.hash = $2) WHERE id = $1 AND name = ''`, who.ID, hash[:])
		b.Exec(`DELETE FROM sessions WHERE administrator_id = $1`, who.ID)
		forgiveAttempts(b, proof.Forgive, now)
		joinCompany(b, box, who, company, by, now)
		box.auditAll(b, now, who, by, "sign_in.succeeded", "By a one-time link.")
		out = who.Administrator
		out.HasPassword, out.LastSignInAt = false, &now
		return tx.Send(ctx, b)
	})
	return out, err
}

// AcceptLink lets a signed-in administrator use their link. It returns the company
// that they have joined, or 0. Codes: not_found, wrong_company.
func (s *Store) AcceptLink(ctx context.Context, by domain.Actor, hash [sha256.Size]byte) (int64, error) {
	var out int64
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		who, company, err := s.useLink(ctx, tx, hash)
		if err != nil {
			return err
		}
		if who.ID != by.ID {
			return domain.ErrLinkOfAnother
		}
		out = company
		b := &db.Batch{}
		joinCompany(b, box, who, company, by, tx.Now())
		return tx.Send(ctx, b)
	})
	return out, err
}

// joinCompany queues that a link's administrator serves its company.
func joinCompany(b *db.Batch, box *outbox, who *administratorRow, company int64, by domain.Actor, now time.Time) {
	if company == 0 || slices.Contains(who.companies, company) {
		return
	}
	addMember(b, company, who.ID, by, now)
	who.companies = append(who.companies, company)
	box.audit(b, now, administratorEntry(company, by, "administrator.joined", who.ID, ""))
}

// personActor returns the actor for what an administrator does in a request.
func personActor(a domain.Administrator, from domain.Actor) domain.Actor {
	return domain.Actor{Kind: domain.ActorPerson, ID: a.ID, Label: a.Email, RequestID: from.RequestID, Address: from.Address}
}
