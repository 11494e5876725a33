package store

import (
	"context"
	"strconv"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// RecordAudit writes an entry about something that changes no other row, such as a
// download.
func (s *Store) RecordAudit(ctx context.Context, e domain.AuditEntry) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		if err := tx.Send(ctx, &db.Batch{}); err != nil {
			return err
		}
		b := &db.Batch{}
		box.audit(b, tx.Now(), e)
		tx.SendAndCommit(b)
		return nil
	})
}

// auditPlatform queues an entry about the platform itself, which belongs to no
// company.
func auditPlatform(b *db.Batch, now time.Time, e domain.AuditEntry) {
	b.Exec(`INSERT INTO platform_audit_entries (at, actor_kind, actor_id, actor_label, action, record_kind, record_id, request_id, address, detail)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, now, string(e.Actor.Kind), e.Actor.ID, e.Actor.Label, e.Action,
		e.RecordKind, e.RecordID, e.Actor.RequestID, e.Actor.Address, e.Detail)
}

func platformEntry(by domain.Actor, action, kind string, id int64) domain.AuditEntry {
	return domain.AuditEntry{Actor: by, Action: action, RecordKind: kind, RecordID: strconv.FormatInt(id, 10)}
}

// PlatformAudit returns the latest entries about the platform itself, the newest
// first.
func (s *Store) PlatformAudit(ctx context.Context, limit int) ([]domain.AuditEntry, error) {
	out := []domain.AuditEntry{}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var e domain.AuditEntry
		err := r.Scan(&e.ID, &e.At, &e.Actor.Kind, &e.Actor.ID, &e.Actor.Label, &e.Action, &e.RecordKind, &e.RecordID,
			&e.Actor.RequestID, &e.Actor.Address, &e.Detail)
		out = append(out, e)
		return err
	}, `SELECT id, at, actor_kind, actor_id, actor_label, action, record_kind, record_id, request_id, address, detail
		FROM platform_audit_entries ORDER BY id DESC LIMIT $1`, limit)
	err := s.read(ctx, b)
	return out, err
}
