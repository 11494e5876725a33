package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// pooledReader runs statements outside a transaction behind a pooler. The session is
// not ours, so the bound of a statement's time is sent along, in one round trip.
type pooledReader struct{ runner }

const boundReadSQL = `SELECT set_config('statement_timeout', $1, true)`

func (r *pooledReader) Exec(ctx context.Context, sql string, args ...any) (n int64, err error) {
	b := &db.Batch{Items: []db.Item{{SQL: sql, Args: args, Done: func(touched int64) error {
		n = touched
		return nil
	}}}}
	err = r.Send(ctx, b)
	return n, err
}

func (r *pooledReader) Send(ctx context.Context, b *db.Batch) error {
	if b.Empty() {
		return nil
	}
	batch := &pgx.Batch{}
	batch.Queue(boundReadSQL, millis(connectionTimeout))
	queue(batch, b.Items)
	return r.send(ctx, batch, b.Items, 1)
}

func (r *pooledReader) Query(ctx context.Context, sql string, args ...any) (db.Rows, error) {
	batch := &pgx.Batch{}
	batch.Queue(boundReadSQL, millis(connectionTimeout))
	batch.Queue(sql, args...)
	res := r.conn.SendBatch(ctx, batch)
	_, err := res.Exec()
	if err == nil {
		var rs pgx.Rows
		if rs, err = res.Query(); err == nil {
			return &pooledRows{rows{rs}, res}, nil
		}
	}
	_ = res.Close() // its error is the same one
	return nil, mapError(err)
}

// pooledRows closes the batch with its rows.
type pooledRows struct {
	rows
	batch pgx.BatchResults
}

func (r *pooledRows) Close() {
	r.rows.Close()
	_ = r.batch.Close() // an error of the statement is the rows' error too
}
