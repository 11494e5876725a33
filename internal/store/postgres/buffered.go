package postgres

import (
	"bytes"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// bufferedReader runs statements on the standby. It passes results on only when the
// whole batch has arrived: if the standby fails halfway, the batch can run on the
// primary, and no callback has seen a row twice.
type bufferedReader struct {
	runner
	limit  context.Context //nolint:containedctx // It bounds all statements of one read.
	pooled bool
	failed error // of a statement, as opposed to fn's own
}

// Exec implements db.Conn.
func (r *bufferedReader) Exec(ctx context.Context, sql string, args ...any) (n int64, err error) {
	b := &db.Batch{Items: []db.Item{{SQL: sql, Args: args, Done: func(touched int64) error {
		n = touched
		return nil
	}}}}
	err = r.Send(ctx, b)
	return n, err
}

// Query implements db.Conn.
func (r *bufferedReader) Query(ctx context.Context, sql string, args ...any) (db.Rows, error) {
	held := &heldRows{}
	b := &db.Batch{}
	b.Query(func(row db.Rows) error {
		held.rows = append(held.rows, row.(*heldRow)) //nolint:forcetypeassert // Send passes nothing else.
		return nil
	}, sql, args...)
	err := r.Send(ctx, b)
	return held, err
}

// Send implements db.Conn.
func (r *bufferedReader) Send(_ context.Context, b *db.Batch) error {
	if b.Empty() {
		return nil
	}
	batch, skip := &pgx.Batch{}, 0
	if r.pooled {
		batch.Queue(boundReadSQL, millis(replicaTimeout))
		skip = 1
	}
	queue(batch, b.Items)
	held, touched := make([][]*heldRow, len(b.Items)), make([]int64, len(b.Items))
	items := make([]db.Item, len(b.Items))
	for i, it := range b.Items {
		if it.Each == nil {
			items[i].Done = func(n int64) error { touched[i] = n; return nil }
			continue
		}
		var fields []pgconn.FieldDescription
		items[i].Each = func(row db.Rows) error {
			rs := row.(rows) //nolint:forcetypeassert // send passes nothing else.
			if fields == nil {
				// pgx keeps the columns of the next result in the same place.
				fields = slices.Clone(rs.FieldDescriptions())
			}
			held[i] = append(held[i], &heldRow{types: r.conn.TypeMap(), fields: fields, values: cloneValues(rs.RawValues())})
			return nil
		}
	}
	if r.failed = r.send(r.limit, batch, items, skip); r.failed != nil {
		return r.failed
	}
	return passOn(b.Items, held, touched)
}

func passOn(items []db.Item, held [][]*heldRow, touched []int64) error {
	for i, it := range items {
		if it.Each == nil {
			if it.Done != nil {
				if err := it.Done(touched[i]); err != nil {
					return err
				}
			}
			continue
		}
		for _, row := range held[i] {
			if err := it.Each(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// cloneValues copies the values of a row, whose bytes belong to the connection.
func cloneValues(raw [][]byte) [][]byte {
	values := make([][]byte, len(raw))
	for i, v := range raw {
		values[i] = bytes.Clone(v) // nil stays nil, which is NULL
	}
	return values
}

// heldRow is a row that was read from the connection.
type heldRow struct {
	types  *pgtype.Map
	fields []pgconn.FieldDescription
	values [][]byte
}

func (r *heldRow) Next() bool             { return false }
func (r *heldRow) Scan(dest ...any) error { return pgx.ScanRow(r.types, r.fields, r.values, dest...) }
func (r *heldRow) Err() error             { return nil }
func (r *heldRow) Close()                 {}

// heldRows is a result that was read from the connection.
type heldRows struct {
	rows []*heldRow
	next int
}

func (r *heldRows) Next() bool             { r.next++; return r.next <= len(r.rows) }
func (r *heldRows) Scan(dest ...any) error { return r.rows[r.next-1].Scan(dest...) }
func (r *heldRows) Err() error             { return nil }
func (r *heldRows) Close()                 {}
