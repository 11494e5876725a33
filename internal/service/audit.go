package service

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// AuditStore reads the audit log.
type AuditStore interface {
	AuditEntries(ctx context.Context, company int64, f domain.AuditFilter, p domain.PageRequest) (domain.Page[domain.AuditEntry], error)
}

// Audit reads the audit log. Nothing here writes to it: entries are part of the
// changes they record.
type Audit struct{ store AuditStore }

// NewAudit returns the log of a store.
func NewAudit(store AuditStore) *Audit { return &Audit{store: store} }

// List returns a page of the log, the newest entry first. The total is not
// counted; NextAuditCursor returns the next cursor. Codes: invalid_request.
func (a *Audit) List(ctx context.Context, c domain.Caller, f domain.AuditFilter, p domain.PageRequest) (domain.Page[domain.AuditEntry], error) {
	if err := f.Check(); err != nil {
		return domain.Page[domain.AuditEntry]{}, err
	}
	return a.store.AuditEntries(ctx, c.Company.ID, f, p)
}

// NextAuditCursor returns the cursor of the page after this one, nil after the last.
func NextAuditCursor(page domain.Page[domain.AuditEntry]) *domain.Cursor {
	if !page.More {
		return nil
	}
	last := page.Items[len(page.Items)-1]
	return &domain.Cursor{ID: last.ID, At: last.At.UnixMilli()}
}
