package store

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// resealStep is how many rows one transaction encrypts again.
const resealStep = 200

// Reseal is a function that encrypts a secret of a company again, or one of no company
// if company is 0. It returns nil for one that can stay as it is.
type Reseal = func(company int64, sealed []byte) ([]byte, error)

// sealedRow is a row with up to three encrypted secrets.
type sealedRow struct {
	key     domain.EndpointKey
	secrets [3][]byte
}

// ResealWebhooks encrypts the secrets of webhooks again, in short transactions, and
// returns how many it has changed.
func (s *Store) ResealWebhooks(ctx context.Context, reseal Reseal) (changed int64, err error) {
	return s.resealAll(ctx, reseal, resealSQL{
		read: `SELECT e.company_id, e.id, e.secret, e.previous_secret, e.headers FROM endpoints e
			WHERE (e.company_id, e.id) > ($1, $2) ORDER BY e.company_id, e.id LIMIT $3` + s.db.ForUpdate("e"),
		update: `UPDATE endpoints SET secret = $3, previous_secret = $4, headers = $5 WHERE company_id = $1 AND id = $2`,
	})
}

// ResealSecondFactors is ResealWebhooks for second factors.
func (s *Store) ResealSecondFactors(ctx context.Context, reseal Reseal) (changed int64, err error) {
	return s.resealAll(ctx, reseal, resealSQL{
		read: `SELECT CAST(0 AS bigint), a.id, a.totp_secret, NULL, NULL FROM administrators a
			WHERE CAST($1 AS bigint) = 0 AND a.id > $2 AND a.totp_secret IS NOT NULL ORDER BY a.id LIMIT $3` + s.db.ForUpdate("a"),
		update: `UPDATE administrators SET totp_secret = $3
			WHERE CAST($1 AS bigint) = 0 AND id = $2 AND CAST($4 AS bytea) IS NULL AND CAST($5 AS bytea) IS NULL`,
	})
}

type resealSQL struct{ read, update string }

func (s *Store) resealAll(ctx context.Context, reseal Reseal, sql resealSQL) (changed int64, err error) {
	var after domain.EndpointKey
	for {
		var rows []sealedRow
		var n int64
		err := s.write(ctx, func(tx db.Tx, _ *outbox) (err error) {
			if rows, err = readSealed(ctx, tx, sql.read, after); err != nil {
				return err
			}
			n, err = updateSealed(tx, sql.update, rows, reseal)
			return err
		})
		if err != nil {
			return changed, err
		}
		changed += n
		if len(rows) < resealStep {
			return changed, nil
		}
		after = rows[len(rows)-1].key
	}
}

func readSealed(ctx context.Context, tx db.Tx, sql string, after domain.EndpointKey) (rows []sealedRow, err error) {
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var row sealedRow
		err := r.Scan(&row.key.CompanyID, &row.key.ID, &row.secrets[0], &row.secrets[1], &row.secrets[2])
		rows = append(rows, row)
		return err
	}, sql, after.CompanyID, after.ID, resealStep)
	err = tx.Send(ctx, b)
	return rows, err
}

func updateSealed(tx db.Tx, sql string, rows []sealedRow, reseal Reseal) (changed int64, err error) {
	b := &db.Batch{}
	for _, row := range rows {
		touched := false
		for i, sealed := range row.secrets {
			if len(sealed) == 0 { // a removed webhook has none
				continue
			}
			again, err := reseal(row.key.CompanyID, sealed)
			if err != nil {
				return 0, err
			}
			if again != nil {
				row.secrets[i], touched = again, true
			}
		}
		if touched {
			changed++
			b.Exec(sql, row.key.CompanyID, row.key.ID, row.secrets[0], row.secrets[1], row.secrets[2])
		}
	}
	tx.SendAndCommit(b)
	return changed, nil
}
