package store

import (
	"context"
	"strconv"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// SavedViews lists the views of a company by name.
func (s *Store) SavedViews(ctx context.Context, company int64) ([]domain.SavedView, error) {
	return s.savedViews(ctx, `WHERE v.company_id = $1 ORDER BY v.name_folded`, company)
}

// SavedView returns one view of a company. Codes: not_found.
func (s *Store) SavedView(ctx context.Context, company, id int64) (domain.SavedView, error) {
	found, err := s.savedViews(ctx, `WHERE v.company_id = $1 AND v.id = $2`, company, id)
	if err == nil && len(found) == 0 {
		err = domain.ErrViewNotFound
	}
	if err != nil {
		return domain.SavedView{}, err
	}
	return found[0], nil
}

func (s *Store) savedViews(ctx context.Context, rest string, args ...any) ([]domain.SavedView, error) {
	var out []domain.SavedView
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var v domain.SavedView
		err := r.Scan(&v.ID, &v.Page, &v.Filter, &v.Name, &v.SavedBy, &v.SavedAt)
		out = append(out, v)
		return err
	}, `SELECT v.id, v.page, v.filter, v.name, `+actorLabelSQL("v.saved_by")+`, v.saved_at FROM saved_views v `+rest, args...)
	err := s.read(ctx, b)
	return out, err
}

// AddSavedView keeps a view. It locks the company, so that views that are saved at
// the same time do not exceed the limit. Codes: invalid_request if the name is taken,
// idempotency_conflict when there are too many.
func (s *Store) AddSavedView(ctx context.Context, c domain.Caller, v domain.SavedView) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		b := &db.Batch{}
		b.Query(ignoreRow, `SELECT 1 FROM companies c WHERE c.id = $1`+s.db.ForUpdate("c"), c.Company.ID)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		count, id := 0, int64(0)
		b = &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&count) }, `SELECT count(*) FROM saved_views WHERE company_id = $1`, c.Company.ID)
		b.Query(func(r db.Rows) error { return r.Scan(&id) },
			`INSERT INTO saved_views (company_id, page, filter, name, name_folded, saved_by, saved_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (company_id, name_folded) DO NOTHING RETURNING id`,
			c.Company.ID, string(v.Page), v.Filter, v.Name, domain.FoldName(v.Name), c.Actor.Ref(), tx.Now())
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		switch {
		case count >= domain.MaxSavedViews:
			return domain.ErrTooManyViews
		case id == 0:
			return domain.ErrViewNameTaken
		}
		b = &db.Batch{}
		box.audit(b, tx.Now(), viewEntry(c, "view.saved", id))
		tx.SendAndCommit(b)
		return nil
	})
}

// RenameSavedView changes the name of a view. Codes: not_found, invalid_request if
// the name is taken.
func (s *Store) RenameSavedView(ctx context.Context, c domain.Caller, id int64, name string) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		folded, same, taken := domain.FoldName(name), false, false
		b := &db.Batch{}
		b.Query(ignoreRow, `SELECT 1 FROM companies c WHERE c.id = $1`+s.db.ForUpdate("c"), c.Company.ID)
		b.Query(func(db.Rows) error { taken = true; return nil },
			`SELECT 1 FROM saved_views WHERE company_id = $1 AND name_folded = $2 AND id <> $3`, c.Company.ID, folded, id)
		b.Query(func(db.Rows) error { same = true; return nil },
			`SELECT 1 FROM saved_views WHERE company_id = $1 AND id = $2 AND name = $3`, c.Company.ID, id, name)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		if taken {
			return domain.ErrViewNameTaken
		}
		if same {
			return nil
		}
		b = &db.Batch{}
		b.One(domain.ErrViewNotFound, `UPDATE saved_views SET name = $3, name_folded = $4 WHERE company_id = $1 AND id = $2`, c.Company.ID, id, name, folded)
		box.audit(b, tx.Now(), viewEntry(c, "view.renamed", id))
		return tx.Send(ctx, b)
	})
}

// RemoveSavedView removes a view. Codes: not_found.
func (s *Store) RemoveSavedView(ctx context.Context, c domain.Caller, id int64) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		if err := tx.Send(ctx, nil); err != nil {
			return err
		}
		b := &db.Batch{}
		b.One(domain.ErrViewNotFound, `DELETE FROM saved_views WHERE company_id = $1 AND id = $2`, c.Company.ID, id)
		box.audit(b, tx.Now(), viewEntry(c, "view.removed", id))
		return tx.Send(ctx, b)
	})
}

func viewEntry(c domain.Caller, action string, id int64) domain.AuditEntry {
	return domain.AuditEntry{
		CompanyID: c.Company.ID, Actor: c.Actor, Action: action, RecordKind: "view", RecordID: strconv.FormatInt(id, 10),
	}
}
