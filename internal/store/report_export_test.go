package store

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// SmallAssignmentReport is AssignmentReport with a directory of another size.
func (s *Store) SmallAssignmentReport(ctx context.Context, company int64, people, text int, yield func([]domain.Assignment) error) error {
	return s.assignmentReport(ctx, company, domain.AssignmentFilter{}, &directory{dialect: s.db, most: people, mostText: text}, yield)
}
