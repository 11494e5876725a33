package service_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

// longLists is a store whose lists have a million records. It remembers the largest
// offset that it was asked for.
type longLists struct {
	service.Store
	total   int64
	deepest int64
}

func (l *longLists) Employees(_ context.Context, _ int64, _ domain.EmployeeFilter, p domain.PageRequest) (domain.Page[domain.Employee], error) {
	l.deepest = max(l.deepest, p.Offset())
	return domain.Page[domain.Employee]{Items: make([]domain.Employee, 1), Total: l.total, More: true}, nil
}

func (l *longLists) Assignments(_ context.Context, _ int64, _ domain.AssignmentFilter, p domain.PageRequest) (domain.AssignmentPage, error) {
	l.deepest = max(l.deepest, p.Offset())
	return domain.AssignmentPage{
		Page: domain.Page[domain.Assignment]{Items: make([]domain.Assignment, 1), Total: l.total, More: true}, Watermark: &time.Time{},
	}, nil
}

// The database reads every record that a page skips, so a page number reaches only so
// far. A page past the end stays empty, as the contract says.
func TestDeepPages(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name         string
		number       int
		total        int64
		refused      bool
		items        int
		afterRecords int64
	}{
		{name: "the last page that is allowed", number: 201, total: 1_000_000, items: 1},
		{name: "the first page that is too deep", number: 202, total: 1_000_000, refused: true},
		{name: "the last page of a long list", number: 2_000, total: 1_000_000, refused: true},
		{name: "past the end of a long list", number: 2_001, total: 1_000_000},
		{name: "far past the end of a short list", number: domain.MaxPage, total: 7},
		{name: "by cursor", number: 2_000, total: 1_000_000, afterRecords: 999_500, items: 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			lists := &longLists{total: row.total}
			learning := service.NewLearning(lists, nil)
			p := domain.PageRequest{Number: row.number, Limit: 500}
			if row.afterRecords > 0 {
				p.After = &domain.Cursor{ID: row.afterRecords, Page: row.number - 1}
			}
			employees, err := learning.Employees(t.Context(), domain.Caller{}, domain.EmployeeFilter{}, p)
			checkDeepPage(t, row.refused, err)
			assignments, err := learning.Assignments(t.Context(), domain.Caller{}, domain.AssignmentFilter{}, p)
			checkDeepPage(t, row.refused, err)
			if employees.Total != row.total || len(employees.Items) != row.items || employees.More != (row.items > 0) {
				t.Errorf("employees: %d of %d, more: %v", len(employees.Items), employees.Total, employees.More)
			}
			if assignments.Total != row.total || len(assignments.Items) != row.items || assignments.More != (row.items > 0) || assignments.Watermark == nil {
				t.Errorf("assignments: %d of %d, more: %v, watermark %v", len(assignments.Items), assignments.Total, assignments.More, assignments.Watermark)
			}
			if lists.deepest > domain.MaxOffset {
				t.Errorf("the store was asked to skip %d records", lists.deepest)
			}
		})
	}
}

func checkDeepPage(t *testing.T, refused bool, err error) {
	t.Helper()
	var e *domain.Error
	switch {
	case !refused && err != nil:
		t.Error(err)
	case refused && (!errors.As(err, &e) || e.Code != domain.CodeInvalid || len(e.Fields) != 1 || e.Fields[0].Field != "page" ||
		!strings.Contains(e.Fields[0].Message, "Link")):
		t.Errorf("got %v, want an error about page that points to Link", err)
	}
}
