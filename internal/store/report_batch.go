package store

import (
	"context"
	"fmt"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// rowBatch is the reportBatch of rows that need nothing else.
type rowBatch[T any] struct{ rows []T }

func newRowBatch[T any]() *rowBatch[T] { return &rowBatch[T]{} }

func (b *rowBatch[T]) empty() bool { return b == nil || len(b.rows) == 0 }
func (b *rowBatch[T]) clear()      { b.rows = b.rows[:0] }

// assignmentBatch is a batch of the assignment report, with the values that the
// pointers of its rows point to.
type assignmentBatch struct {
	rows []domain.Assignment
	own  [batchRows]struct {
		score                    domain.Points
		started, completed, last time.Time
	}
}

func newAssignmentBatch() *assignmentBatch {
	return &assignmentBatch{rows: make([]domain.Assignment, 0, batchRows)}
}

func (b *assignmentBatch) empty() bool { return b == nil || len(b.rows) == 0 }
func (b *assignmentBatch) clear()      { b.rows = b.rows[:0] }

// assignmentReader scans rows into batches without an allocation for each row: all
// texts of a batch are parts of one string.
type assignmentReader struct {
	courses map[int64]string
	swap    func(*assignmentBatch) (*assignmentBatch, error)
	batch   *assignmentBatch
	text    []byte
	ends    [batchRows][4]int // where each row's four texts end in text

	id, employee, course, percent, score, attempts int64
	status                                         statusColumn
	required                                       bool
	assigned, deadline, started, completed, last   time.Time
	texts                                          [4]textColumn
}

// read scans all rows and passes them on in batches.
func (r *assignmentReader) read(ctx context.Context, c db.Conn, q query) (err error) {
	if r.batch, err = r.swap(nil); err != nil {
		return err
	}
	dest := []any{ // in the order of the columns
		&r.id, &r.employee, &r.course, &r.status, &r.percent, &r.score, &r.attempts,
		&r.required, &r.assigned, &r.deadline, &r.started, &r.completed, &r.last,
	}
	for i := range r.texts {
		r.texts[i].to = &r.text
		dest = append(dest, &r.texts[i])
	}
	err = forEachRow(ctx, c, q, dest, func() error {
		err := r.take()
		if err == nil && len(r.batch.rows) == batchRows {
			err = r.flush()
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.flush()
}

// take adds the scanned row to the batch; flush sets its texts.
func (r *assignmentReader) take() error {
	i := len(r.batch.rows)
	for k := range r.texts {
		r.ends[i][k] = r.texts[k].end
	}
	course, ok := r.courses[r.course]
	if !ok {
		return fmt.Errorf("assignment %d is of course %d, which is neither the platform's nor the company's", r.id, r.course)
	}
	own := &r.batch.own[i]
	own.score, own.started, own.completed, own.last = domain.Points(r.score), r.started, r.completed, r.last
	r.batch.rows = r.batch.rows[:i+1]
	a := &r.batch.rows[i]
	a.ID, a.EmployeeID, a.CourseID, a.CourseName = r.id, r.employee, r.course, course
	a.Status, a.Percent, a.Attempts, a.IsRequired = r.status.value, domain.Points(r.percent), int(r.attempts), r.required
	a.AssignedAt, a.Deadline, a.Score = r.assigned, r.deadline, nil
	if own.score >= 0 {
		a.Score = &own.score
	}
	a.StartedAt, a.CompletedAt, a.LastActivityAt = present(&own.started), present(&own.completed), present(&own.last)
	return nil
}

func present(t *time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return t
}

// flush sets the texts of the batch's rows and passes the batch on.
func (r *assignmentReader) flush() (err error) {
	text, start := string(r.text), 0
	for i := range r.batch.rows {
		a, ends := &r.batch.rows[i], &r.ends[i]
		a.ExternalID, a.EmployeeExternalID = text[start:ends[0]], text[ends[0]:ends[1]]
		a.EmployeeName, a.EmployeeEmail = text[ends[1]:ends[2]], text[ends[2]:ends[3]]
		start = ends[3]
	}
	r.text = r.text[:0]
	r.batch, err = r.swap(r.batch)
	return err
}

// textColumn appends a scanned text to a buffer. It works with both drivers.
type textColumn struct {
	to  *[]byte
	end int
}

// ScanBytes implements pgtype.BytesScanner, which avoids a copy.
func (t *textColumn) ScanBytes(v []byte) error {
	*t.to = append(*t.to, v...)
	t.end = len(*t.to)
	return nil
}

// Scan implements sql.Scanner.
func (t *textColumn) Scan(v any) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("a text is stored as %T", v)
	}
	*t.to = append(*t.to, s...)
	t.end = len(*t.to)
	return nil
}

// statusColumn scans a status without allocating a string for each row.
type statusColumn struct{ value domain.Status }

// ScanBytes implements pgtype.BytesScanner, which avoids a copy.
func (s *statusColumn) ScanBytes(v []byte) error {
	for _, status := range domain.Statuses {
		if string(v) == string(status) {
			s.value = status
			return nil
		}
	}
	return fmt.Errorf("there is no status %q", v)
}

// Scan implements sql.Scanner.
func (s *statusColumn) Scan(v any) error {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("a status is stored as %T", v)
	}
	s.value = domain.Status(text)
	return nil
}
