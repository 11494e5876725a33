package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// Members lists a company's administrators and who was invited to be one.
func (s *Store) Members(ctx context.Context, company int64) ([]domain.Member, []domain.Invitation, error) {
	members, invited := []domain.Member{}, []domain.Invitation{}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var a administratorRow
		var m domain.Member
		err := a.scan(r, &m.AddedAt, &m.AddedBy, &m.Role, &m.LastSignInAt)
		m.Administrator = a.Administrator
		members = append(members, m)
		return err
	}, `SELECT `+administratorColumns+`, m.added_at, `+actorLabelSQL("m.added_by")+`, m.role, m.last_sign_in_at
		FROM company_administrators m JOIN administrators a ON a.id = m.administrator_id
		WHERE m.company_id = $1 ORDER BY m.added_at, a.id`, company)
	b.Query(func(r db.Rows) error {
		var i domain.Invitation
		err := r.Scan(&i.AdministratorID, &i.Email, &i.Name, &i.Role, &i.CreatedAt, &i.ExpiresAt)
		invited = append(invited, i)
		return err
	}, `SELECT a.id, a.email, l.name, l.role, l.created_at, l.expires_at
		FROM sign_in_links l JOIN administrators a ON a.id = l.administrator_id
		WHERE l.for_company_id = $1 AND l.used_at IS NULL AND NOT EXISTS
		(SELECT 1 FROM company_administrators m WHERE m.company_id = $1 AND m.administrator_id = a.id)
		ORDER BY l.created_at, a.id`, company)
	err := s.read(ctx, b)
	return members, invited, err
}

// newMember is an administrator who is to serve a company.
type newMember struct {
	who *administratorRow
	domain.Membership
	by domain.Actor
}

// addMember queues that an administrator serves a company. One who follows an
// invitation was added by its author, whom the audit log names.
func addMember(b *db.Batch, now time.Time, m newMember) {
	b.Exec(`INSERT INTO company_administrators (company_id, administrator_id, role, added_at, added_by)
		VALUES ($1, $2, $6, $3, coalesce((SELECT CASE WHEN e.actor_kind = 'person' THEN 'person:' || e.actor_id ELSE e.actor_label END
			FROM audit_entries e
			WHERE e.company_id = $1 AND e.action = 'administrator.invited' AND e.record_id = $4 ORDER BY e.id DESC LIMIT 1), $5))
		ON CONFLICT DO NOTHING`, m.ID, m.who.ID, now, strconv.FormatInt(m.who.ID, 10), m.by.Ref(), string(m.Role))
}

// lockMembers locks all administrators of a company, so that two who remove or
// demote each other take turns, and returns their roles.
func (s *Store) lockMembers(ctx context.Context, tx db.Tx, company int64) (map[int64]domain.CabinetRole, error) {
	roles := map[int64]domain.CabinetRole{}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var id int64
		var role domain.CabinetRole
		err := r.Scan(&id, &role)
		roles[id] = role
		return err
	}, `SELECT m.administrator_id, m.role FROM company_administrators m WHERE m.company_id = $1
		ORDER BY m.administrator_id`+s.db.ForUpdate("m"), company)
	err := tx.Send(ctx, b)
	return roles, err
}

// isLastOwner reports whether a company would have no owner without this one.
func isLastOwner(roles map[int64]domain.CabinetRole, id int64) bool {
	if roles[id] != domain.CabinetOwner {
		return false
	}
	for other, role := range roles {
		if other != id && role == domain.CabinetOwner {
			return false
		}
	}
	return true
}

// RemoveAdministrator takes an administrator out of a company, never the last
// owner. One who serves no company any more is signed out and removed. Codes: not_found,
// invalid_request.
func (s *Store) RemoveAdministrator(ctx context.Context, c domain.Caller, id int64) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		if _, err := s.lockAdministratorID(ctx, tx, id); err != nil {
			return err
		}
		roles, err := s.lockMembers(ctx, tx, c.Company.ID)
		switch {
		case err != nil:
			return err
		case roles[id] == "":
			return domain.ErrAdministratorNotFound
		case isLastOwner(roles, id):
			return domain.ErrLastOwner
		}
		b := &db.Batch{}
		b.One(errGone, `DELETE FROM company_administrators WHERE company_id = $1 AND administrator_id = $2`, c.Company.ID, id)
		b.Exec(`DELETE FROM sign_in_links WHERE administrator_id = $1 AND for_company_id = $2 AND used_at IS NULL`, id, c.Company.ID)
		box.audit(b, tx.Now(), administratorEntry(c.Company.ID, c.Actor, "administrator.removed", id))
		removeUnusedIdentity(b, id, tx.Now())
		return tx.Send(ctx, b)
	})
}

// SetCabinetRole changes the role of an administrator; a company keeps an owner.
// Codes: not_found, invalid_request.
func (s *Store) SetCabinetRole(ctx context.Context, c domain.Caller, id int64, role domain.CabinetRole) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		roles, err := s.lockMembers(ctx, tx, c.Company.ID)
		switch {
		case err != nil:
			return err
		case roles[id] == "":
			return domain.ErrAdministratorNotFound
		case roles[id] == role:
			return nil
		case isLastOwner(roles, id):
			return domain.ErrLastOwner
		}
		b := &db.Batch{}
		b.One(errGone, `UPDATE company_administrators SET role = $3 WHERE company_id = $1 AND administrator_id = $2`,
			c.Company.ID, id, string(role))
		entry := administratorEntry(c.Company.ID, c.Actor, "administrator.role_changed", id)
		entry.Detail = fmt.Sprintf("From %s to %s.", roles[id], role)
		box.audit(b, tx.Now(), entry)
		return tx.Send(ctx, b)
	})
}
