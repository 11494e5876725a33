package store

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

const sessionColumns = `x.hash, x.id, x.administrator_id, x.data, x.created_at, x.seen_at, x.expires_at, x.address, x.user_agent`

func sessionDest(x *domain.Session) []any {
	return []any{&x.Key, &x.ID, &x.AdministratorID, &x.Data, &x.CreatedAt, &x.SeenAt, &x.ExpiresAt, &x.Address, &x.UserAgent}
}

// Session returns the session with this key, unless it has ended. Codes: not_found.
func (s *Store) Session(ctx context.Context, key []byte) (domain.Session, error) {
	var out domain.Session
	found := false
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { found = true; return r.Scan(sessionDest(&out)...) },
		`SELECT `+sessionColumns+` FROM sessions x WHERE x.hash = $1 AND x.expires_at > $2`, key, s.Now())
	err := s.read(ctx, b)
	if err == nil && !found {
		err = domain.ErrSessionNotFound
	}
	return out, err
}

// AddSession stores a new session. It replaces one with the same key.
func (s *Store) AddSession(ctx context.Context, x domain.Session) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		_, err := tx.Exec(ctx, `INSERT INTO sessions (hash, administrator_id, data, created_at, seen_at, expires_at, address, user_agent)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (hash) DO UPDATE SET data = excluded.data,
			administrator_id = excluded.administrator_id, seen_at = excluded.seen_at, expires_at = excluded.expires_at`,
			x.Key, x.AdministratorID, x.Data, x.CreatedAt, x.SeenAt, x.ExpiresAt, x.Address, x.UserAgent)
		return err
	})
}

// PutSessionData replaces the data of a session. A session that has ended in the
// meantime stays ended.
func (s *Store) PutSessionData(ctx context.Context, key, data []byte) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		_, err := tx.Exec(ctx, `UPDATE sessions SET data = $2 WHERE hash = $1`, key, data)
		return err
	})
}

// TouchSession stores when and from where a session was last used.
func (s *Store) TouchSession(ctx context.Context, x domain.Session) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		_, err := tx.Exec(ctx, `UPDATE sessions SET seen_at = $2, expires_at = $3, address = $4, user_agent = $5 WHERE hash = $1`,
			x.Key, x.SeenAt, x.ExpiresAt, x.Address, x.UserAgent)
		return err
	})
}

// DropSession ends the session with this key, if there is one.
func (s *Store) DropSession(ctx context.Context, key []byte) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		_, err := tx.Exec(ctx, `DELETE FROM sessions WHERE hash = $1`, key)
		return err
	})
}

// Sessions returns an administrator's sessions, the last used first.
func (s *Store) Sessions(ctx context.Context, administrator int64) ([]domain.Session, error) {
	out := []domain.Session{}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var x domain.Session
		err := r.Scan(sessionDest(&x)...)
		out = append(out, x)
		return err
	}, `SELECT `+sessionColumns+` FROM sessions x WHERE x.administrator_id = $1 AND x.expires_at > $2
		ORDER BY x.seen_at DESC, x.id DESC`, administrator, s.Now())
	err := s.read(ctx, b)
	return out, err
}

// EndSession ends one of an administrator's own sessions. Codes: not_found.
func (s *Store) EndSession(ctx context.Context, by domain.Actor, id int64) error {
	return s.endSessions(ctx, by, func(tx db.Tx) (int64, error) {
		n, err := tx.Exec(ctx, `DELETE FROM sessions WHERE administrator_id = $1 AND id = $2`, by.ID, id)
		if err == nil && n == 0 {
			err = domain.ErrSessionNotFound
		}
		return n, err
	})
}

// EndOtherSessions ends all of an administrator's sessions except the one with the
// key keep, which may be empty. It returns how many it has ended.
func (s *Store) EndOtherSessions(ctx context.Context, by domain.Actor, keep []byte) (int64, error) {
	var ended int64
	err := s.endSessions(ctx, by, func(tx db.Tx) (n int64, err error) {
		ended, err = tx.Exec(ctx, endSessionsSQL, by.ID, nonNilKey(keep))
		return ended, err
	})
	return ended, err
}

func (s *Store) endSessions(ctx context.Context, by domain.Actor, end func(db.Tx) (int64, error)) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		who, err := s.lockAdministratorID(ctx, tx, by.ID)
		if err != nil {
			return err
		}
		n, err := end(tx)
		if err != nil || n == 0 {
			return err
		}
		b := &db.Batch{}
		box.audit(b, tx.Now(), who.entries(by, "session.ended")...)
		return tx.Send(ctx, b)
	})
}

const endSessionsSQL = `DELETE FROM sessions WHERE administrator_id = $1 AND hash <> $2`

func endSessions(b *db.Batch, administrator int64, keep []byte) {
	b.Exec(endSessionsSQL, administrator, nonNilKey(keep))
}

// nonNilKey returns an empty key for nil, which would become NULL: a comparison with
// NULL is never true.
func nonNilKey(key []byte) []byte {
	if key == nil {
		return []byte{}
	}
	return key
}
