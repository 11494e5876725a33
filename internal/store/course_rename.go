package store

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// A course's name is stored once, so that renaming it is one short transaction
// however often it is assigned. Its assignments show the name and so have changed
// too: they are stamped for the readers of updatedSince, in steps that any process
// can continue. A row of course_renames describes which assignments have been stamped.

// renameStep is how many assignments one transaction stamps. On SQLite, whose other
// writers wait for it, a step took 50 ms with 700,000 assignments on a busy machine.
const renameStep = 500

// firstSteps is how many steps a rename does itself, so that the few assignments
// of most courses are stamped when it returns.
const firstSteps = 4

// beginStamping does the first steps after a rename was committed. What fails here
// is done by StampRenamedCourses.
func (s *Store) beginStamping(ctx context.Context) {
	for range firstSteps {
		if taken, err := s.stampRenamedCourse(ctx); err != nil || !taken {
			return
		}
	}
}

// queueRename notes that all assignments of a course have to be stamped. A rename
// that is not finished starts over.
func queueRename(b *db.Batch, course int64, now time.Time) {
	b.Exec(`INSERT INTO course_renames (course_id, renamed_at, stamped_company_id, stamped_assignment_id) VALUES ($1, $2, 0, 0)
		ON CONFLICT (course_id) DO UPDATE SET renamed_at = excluded.renamed_at, stamped_company_id = 0, stamped_assignment_id = 0`,
		course, now)
}

// StampRenamedCourses stamps the assignments of renamed courses until none is
// left. Several processes may call it at once: each takes a course that no other
// is working on.
func (s *Store) StampRenamedCourses(ctx context.Context) error {
	for {
		if pending, err := s.hasRenames(ctx); err != nil || !pending {
			return err
		}
		if taken, err := s.stampRenamedCourse(ctx); err != nil || !taken {
			return err
		}
	}
}

func (s *Store) hasRenames(ctx context.Context) (bool, error) {
	pending := false
	b := &db.Batch{}
	b.Query(func(db.Rows) error { pending = true; return nil }, `SELECT 1 FROM course_renames LIMIT 1`)
	err := s.read(ctx, b)
	return pending, err
}

// stampRenamedCourse does one step. It returns false if there is no course that
// another process does not hold already.
func (s *Store) stampRenamedCourse(ctx context.Context) (taken bool, err error) {
	err = s.write(ctx, func(tx db.Tx, _ *outbox) error {
		var course, company, after int64
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&course, &company, &after) },
			`SELECT n.course_id, n.stamped_company_id, n.stamped_assignment_id FROM course_renames n
			ORDER BY n.course_id LIMIT 1`+s.db.ForUpdate("n")+s.db.SkipLocked())
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		if taken = course != 0; !taken {
			return nil
		}
		step, err := s.nextRenameStep(ctx, tx, course, company, after)
		if err != nil {
			return err
		}
		b = &db.Batch{}
		if len(step) == 0 {
			b.Exec(`DELETE FROM course_renames WHERE course_id = $1`, course)
		} else {
			rows, args := s.db.ValuesTable(2, assignmentKeys(step)...)
			b.Exec(`UPDATE assignments SET updated_at = $1 FROM `+rows+` r
				WHERE assignments.company_id = r.company_id AND assignments.id = r.id`, append([]any{tx.Now()}, args...)...)
			last := step[len(step)-1]
			b.Exec(`UPDATE course_renames SET stamped_company_id = $2, stamped_assignment_id = $3 WHERE course_id = $1`,
				course, last.CompanyID, last.ID)
		}
		tx.SendAndCommit(b)
		return nil
	})
	return taken, err
}

// nextRenameStep locks and returns the next assignments of a course, all of one
// company: the one that the last step ended in, or the next one that has any. A
// company that has lost its grant has kept its assignments.
func (s *Store) nextRenameStep(ctx context.Context, tx db.Tx, course, company, after int64) ([]domain.Assignment, error) {
	for {
		var step []domain.Assignment
		b := &db.Batch{}
		b.Query(func(r db.Rows) error {
			a := domain.Assignment{CompanyID: company}
			err := r.Scan(&a.ID)
			step = append(step, a)
			return err
		}, `SELECT a.id FROM assignments a WHERE a.company_id = $1 AND a.course_id = $2 AND a.revoked_at IS NULL AND a.id > $3
			ORDER BY a.id LIMIT $4`+s.db.ForUpdate("a"), company, course, after, renameStep)
		if err := tx.Send(ctx, b); err != nil || len(step) > 0 {
			return step, err
		}
		next := int64(0)
		b = &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&next) }, `SELECT c.id FROM companies c WHERE c.id > $1 AND
			(SELECT 1 FROM assignments a WHERE a.company_id = c.id AND a.course_id = $2 AND a.revoked_at IS NULL LIMIT 1) IS NOT NULL
			ORDER BY c.id LIMIT 1`, company, course)
		if err := tx.Send(ctx, b); err != nil || next == 0 {
			return nil, err
		}
		company, after = next, 0
	}
}
