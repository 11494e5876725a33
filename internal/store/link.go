package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// storedLink is a link with the administrator who may use it and the company that it
// leads into, 0 for none in particular.
type storedLink struct {
	domain.NewLink
	administrator, company int64
}

// insertLink queues a new one-time link, which replaces an unused one for the same
// administrator and company.
func insertLink(b *db.Batch, now time.Time, link storedLink) {
	b.Exec(`DELETE FROM sign_in_links WHERE administrator_id = $1 AND for_company_id = $2 AND used_at IS NULL`, link.administrator, link.company)
	b.Exec(`INSERT INTO sign_in_links (hash, administrator_id, for_company_id, name, kind, role, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		link.Hash[:], link.administrator, link.company, link.Name, string(rune(link.Kind)), string(link.Role), now, now.Add(link.Lifetime))
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
		insertLink(b, tx.Now(), storedLink{link, who.ID, c.Company.ID})
		box.audit(b, tx.Now(), administratorEntry(c.Company.ID, c.Actor, "administrator.invited", who.ID))
		return tx.Send(ctx, b)
	})
	return out, err
}

// Uninvite withdraws an invitation to the caller's company. Codes: not_found.
func (s *Store) Uninvite(ctx context.Context, c domain.Caller, administrator int64) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		_, err := s.lockAdministratorID(ctx, tx, administrator)
		if errors.Is(err, domain.ErrAdministratorNotFound) {
			return domain.ErrInvitationNotFound
		}
		if err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `DELETE FROM sign_in_links WHERE administrator_id = $1 AND for_company_id = $2 AND used_at IS NULL`,
			administrator, c.Company.ID)
		if err != nil {
			return err
		}
		if n == 0 {
			return domain.ErrInvitationNotFound
		}
		b := &db.Batch{}
		box.audit(b, tx.Now(), administratorEntry(c.Company.ID, c.Actor, "administrator.uninvited", administrator))
		removeUnusedIdentity(b, administrator, tx.Now())
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
			addMember(b, tx.Now(), newMember{who, ownership(in.CompanyID), by})
		}
		if in.CompanyID != 0 && !slices.Contains(who.companies, in.CompanyID) {
			box.audit(b, tx.Now(), administratorEntry(in.CompanyID, by, "administrator.invited", who.ID))
		}
		if in.DropSecondFactor && who.TOTPConfirmed {
			dropFactor(b, who.ID)
			box.audit(b, tx.Now(), who.entries(by, "second_factor.removed")...)
		}
		insertLink(b, tx.Now(), storedLink{link, who.ID, in.CompanyID})
		box.audit(b, tx.Now(), who.entries(by, "administrator.link_made")...)
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
		into.Claimed, into.Vouched = into.Claimed || a.HasPassword, a.vouchedAt != nil
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

// useLink locks the administrator that a link is for, and uses the link up.
func (s *Store) useLink(ctx context.Context, tx db.Tx, hash [sha256.Size]byte) (who *administratorRow, m domain.Membership, err error) {
	var administrator int64
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&administrator, &m.ID, &m.Role) },
		`SELECT administrator_id, for_company_id, role FROM sign_in_links WHERE hash = $1`, hash[:])
	if err := tx.Send(ctx, b); err != nil {
		return nil, m, err
	}
	if administrator == 0 {
		return nil, m, domain.ErrLinkNotFound
	}
	if who, err = s.lockAdministratorID(ctx, tx, administrator); err != nil {
		return nil, m, err
	}
	n, err := tx.Exec(ctx, `UPDATE sign_in_links SET used_at = $2 WHERE hash = $1 AND used_at IS NULL AND expires_at > $2`, hash[:], tx.Now())
	if err == nil && n != 1 {
		err = domain.ErrLinkNotFound
	}
	return who, m, err
}

// EnterByLink signs the link's administrator in. It clears the password, which has
// to be set again, and ends all other sessions. Codes: not_found, unauthorized.
func (s *Store) EnterByLink(ctx context.Context, hash [sha256.Size]byte, kind domain.LinkKind, proof domain.SignInProof) (domain.Administrator, error) {
	var out domain.Administrator
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		who, joined, err := s.useLink(ctx, tx, hash)
		if err != nil {
			return err
		}
		link := domain.SignInLink{Kind: kind, Administrator: who.Administrator, Claimed: who.isClaimed(), Vouched: who.vouchedAt != nil}
		if !link.SignsIn() {
			return domain.ErrLinkNeedsSignIn
		}
		if link.NeedsCode() {
			if err := s.consumeFactor(ctx, tx, who, proof); err != nil {
				return err
			}
		}
		now := tx.Now()
		by := personActor(who.Administrator, proof.Actor)
		b := &db.Batch{}
		b.Exec(`UPDATE administrators SET password_hash = NULL, last_sign_in_at = $2 WHERE id = $1`, who.ID, now)
		if kind == domain.LinkOperator {
			vouch(b, who, now)
		}
		b.Exec(`UPDATE administrators SET name = (SELECT l.name FROM sign_in_links l WHERE l.hash = $2) WHERE id = $1 AND name = ''`, who.ID, hash[:])
		b.Exec(`DELETE FROM sessions WHERE administrator_id = $1`, who.ID)
		forgiveAttempts(b, proof.Forgive, now)
		box.joinCompany(b, now, newMember{who, joined, by})
		if joined.ID != 0 {
			who.companies = []int64{joined.ID}
		}
		box.auditSignIn(b, now, signIn{who, by, "By a one-time link."})
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
		who, joined, err := s.useLink(ctx, tx, hash)
		if err != nil {
			return err
		}
		if who.ID != by.ID {
			return domain.ErrLinkOfAnother
		}
		out = joined.ID
		b := &db.Batch{}
		box.joinCompany(b, tx.Now(), newMember{who, joined, by})
		return tx.Send(ctx, b)
	})
	return out, err
}

// joinCompany queues that a link's administrator serves its company from now on.
func (o *outbox) joinCompany(b *db.Batch, now time.Time, m newMember) {
	if m.ID == 0 || slices.Contains(m.who.companies, m.ID) {
		return
	}
	addMember(b, now, m)
	m.who.companies = append(m.who.companies, m.ID)
	o.audit(b, now, administratorEntry(m.ID, m.by, "administrator.joined", m.who.ID))
}

// ownership is the membership that the operator's links offer.
func ownership(company int64) domain.Membership {
	return domain.Membership{Company: domain.Company{ID: company}, Role: domain.CabinetOwner}
}

// vouch queues that the operator vouches for the address. Whatever was set up
// before through a company's invitation may be somebody else's: it goes.
func vouch(b *db.Batch, who *administratorRow, now time.Time) {
	if who.vouchedAt == nil {
		b.Exec(`UPDATE administrators SET name = '' WHERE id = $1`, who.ID)
		dropFactor(b, who.ID)
		who.Name, who.HasSecondFactor, who.RecoveryLeft, who.SecondFactorSince = "", false, 0, nil
	}
	b.Exec(`UPDATE administrators SET vouched_at = $2 WHERE id = $1`, who.ID, now)
}

// personActor returns the actor for what an administrator does in a request.
func personActor(a domain.Administrator, from domain.Actor) domain.Actor {
	return domain.Actor{Kind: domain.ActorPerson, ID: a.ID, Label: a.Email, RequestID: from.RequestID, Address: from.Address}
}
