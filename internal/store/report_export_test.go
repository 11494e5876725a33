package store

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// SmallAssignmentReport is AssignmentReport with a directory of another size.
func (s *Store) SmallAssignmentReport(ctx context.Context, company int64, people, text int, yield func([]domain.Assignment) error) error {
	return pipe(ctx, newAssignmentBatch,
		func(ctx context.Context, swap func(*assignmentBatch) (*assignmentBatch, error)) error {
			return s.db.Snapshot(ctx, func(c db.Conn) error {
				return readAssignments(ctx, c, company, domain.AssignmentFilter{}, &directory{most: people, mostText: text}, swap)
			})
		},
		func(b *assignmentBatch) error { return yield(b.rows) })
}
