package store

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// logReportRows is how many rows a report of a list reads at a time. It reads as the
// pages of the list do, so that indexes serve it whatever the filter.
const logReportRows = 500

// pagedList describes how the pages of a list are read: queue queues the query of a page
// and of one row more, cursor returns the position after a row.
type pagedList[T any] struct {
	queue  func(b *db.Batch, p domain.PageRequest, into *[]T)
	cursor func(row T) domain.Cursor
}

// readPages passes the rows of a list to yield in batches, from one snapshot of the
// database. It holds a few pages in memory, never the whole list: a batch is reused
// after yield has returned. An error of yield ends the report and is returned unchanged.
func readPages[T any](ctx context.Context, s *Store, list pagedList[T], yield func([]T) error) error {
	read := func(ctx context.Context, swap func(*rowBatch[T]) (*rowBatch[T], error)) error {
		return s.db.Snapshot(ctx, func(c db.Conn) error {
			batch, err := swap(nil)
			page := domain.PageRequest{Limit: logReportRows - 1}
			for more := true; more && err == nil; {
				b := &db.Batch{}
				list.queue(b, page, &batch.rows)
				if err := c.Send(ctx, b); err != nil {
					return err
				}
				if more = len(batch.rows) == logReportRows; more {
					last := list.cursor(batch.rows[logReportRows-1])
					page.After = &last
				}
				batch, err = swap(batch)
			}
			return err
		})
	}
	return mapUnavailable(pipeline(ctx, newRowBatch[T], read, func(b *rowBatch[T]) error { return yield(b.rows) }))
}

// DeliveryReport passes the deliveries that match the filter to yield in batches, the
// newest first and without bodies. See readPages.
func (s *Store) DeliveryReport(ctx context.Context, company int64, f domain.DeliveryFilter, yield func([]domain.Delivery) error) error {
	return readPages(ctx, s, s.deliveryLog(company, f), yield)
}

// APIRequestReport passes the logged requests that match the filter to yield in batches,
// the newest first and without bodies. See readPages.
func (s *Store) APIRequestReport(ctx context.Context, company int64, f domain.APIRequestFilter, yield func([]domain.APIRequest) error) error {
	return readPages(ctx, s, s.requestLog(company, f), yield)
}

// TokenReport passes the tokens that match the filter to yield in batches, the newest
// first. See readPages.
func (s *Store) TokenReport(ctx context.Context, f domain.TokenFilter, yield func([]domain.Token) error) error {
	return readPages(ctx, s, tokenList(f), yield)
}
