package store

import (
	"context"
	"errors"
	"slices"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// PutCourse creates or updates a course of the platform by its external id. A new
// name is valid at once; the first assignments are stamped before PutCourse
// returns, and StampRenamedCourses stamps the others.
func (s *Store) PutCourse(ctx context.Context, by domain.Actor, course domain.Course) (id int64, status string, err error) {
	renamed := false
	err = s.write(ctx, func(tx db.Tx, box *outbox) error {
		var old domain.Course
		found := false
		renamed = false
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { found = true; return scanCourse(r, &old) },
			`SELECT `+courseColumns+` FROM courses c WHERE c.owner_company_id = 0 AND c.external_id = $1`+s.db.ForUpdate("c"), course.ExternalID)
		b.Query(appendColumn(&old.Modules), `SELECT m.title FROM course_modules m JOIN courses c ON c.id = m.course_id
			WHERE c.owner_company_id = 0 AND c.external_id = $1 ORDER BY m.position`, course.ExternalID)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		if !found {
			made := course
			err := s.insertCourse(ctx, tx, &made)
			if errors.Is(err, domain.ErrCourseIDTaken) {
				return db.ErrRetry // created in the meantime: the next run finds it
			}
			if err != nil {
				return err
			}
			id, status = made.ID, "created"
			b := &db.Batch{}
			auditPlatform(b, tx.Now(), platformEntry(by, "course.created", "course", id))
			return tx.Send(ctx, b)
		}
		id, status = old.ID, "unchanged"
		if old.Name == course.Name && old.Rule() == course.Rule() && slices.Equal(old.Modules, course.Modules) {
			return nil
		}
		status, renamed = "updated", old.Name != course.Name
		if err := s.updateCourse(ctx, tx, old, course); err != nil {
			return err
		}
		last := &db.Batch{}
		auditPlatform(last, tx.Now(), platformEntry(by, "course.changed", "course", id))
		box.bumpVersion(last, domain.CacheCourses)
		tx.SendAndCommit(last)
		return nil
	})
	if err == nil && renamed {
		s.beginStamping(ctx)
	}
	return id, status, err
}

// updateCourse changes a course that the transaction has locked.
func (s *Store) updateCourse(ctx context.Context, tx db.Tx, old, course domain.Course) error {
	b := &db.Batch{}
	b.Exec(`UPDATE courses SET name = $2, is_assessment = $3, pass_mark = $4, allowed_attempts = $5, updated_at = $6 WHERE id = $1`,
		old.ID, course.Name, course.IsAssessment, int64(course.PassMark), course.AllowedAttempts, tx.Now())
	course.ID = old.ID
	s.setModules(b, course)
	if old.Name != course.Name {
		queueRename(b, old.ID, tx.Now())
	}
	return tx.Send(ctx, b)
}

// GrantCourse allows a company to assign a course of the platform, or withdraws the
// permission. Codes: course_not_found, company_not_found.
func (s *Store) GrantCourse(ctx context.Context, by domain.Actor, externalID string, company int64, granted bool) (int64, error) {
	var id int64
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		id = 0
		exists, has := false, false
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&id) },
			`SELECT id FROM courses WHERE owner_company_id = 0 AND external_id = $1`, externalID)
		b.Query(func(db.Rows) error { exists = true; return nil }, `SELECT 1 FROM companies WHERE id = $1`, company)
		b.Query(func(db.Rows) error { has = true; return nil }, `SELECT 1 FROM course_grants g JOIN courses c ON c.id = g.course_id
			WHERE g.company_id = $1 AND c.owner_company_id = 0 AND c.external_id = $2`, company, externalID)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		switch {
		case id == 0:
			return domain.ErrCourseNotFound
		case !exists:
			return domain.ErrCompanyNotFound(company)
		case has == granted:
			return nil
		}
		b = &db.Batch{}
		c := domain.Caller{Company: domain.Company{ID: company}, Actor: by}
		if granted {
			s.grant(b, tx, company, id)
			box.audit(b, tx.Now(), courseEntry(c, "course.granted", id))
		} else {
			b.Exec(`DELETE FROM course_grants WHERE company_id = $1 AND course_id = $2`, company, id)
			box.audit(b, tx.Now(), courseEntry(c, "course.withdrawn", id))
		}
		box.bumpVersion(b, domain.CacheCourses)
		return tx.Send(ctx, b)
	})
	return id, err
}
