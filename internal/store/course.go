package store

import (
	"context"
	"strconv"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

const courseColumns = `c.id, c.owner_company_id, coalesce(c.parent_id, 0), coalesce(c.external_id, ''), c.name,
	c.is_assessment, c.pass_mark, c.allowed_attempts, c.archived_at`

func scanCourse(r db.Rows, c *domain.Course, more ...any) error {
	return r.Scan(append([]any{
		&c.ID, &c.OwnerCompanyID, &c.ParentID, &c.ExternalID, &c.Name, &c.IsAssessment, &c.PassMark, &c.AllowedAttempts,
		&c.ArchivedAt,
	}, more...)...)
}

// Courses returns the courses and slices that the company may assign, by ascending
// id and without their modules. The version is that of all courses: see
// CacheVersions.
func (s *Store) Courses(ctx context.Context, company int64) (courses []domain.Course, version int64, err error) {
	b := &db.Batch{}
	readVersion(b, domain.CacheCourses, &version)
	b.Query(func(r db.Rows) error {
		var c domain.Course
		err := scanCourse(r, &c)
		courses = append(courses, c)
		return err
	}, `SELECT `+courseColumns+` FROM course_grants g JOIN courses c ON c.id = g.course_id
		WHERE g.company_id = $1 AND c.archived_at IS NULL ORDER BY c.id`, company)
	err = s.read(ctx, b)
	return courses, version, err
}

// AddCourse creates a course that the company owns and may assign. A course with a
// parent is a slice. Codes: external_id_taken, company_not_found.
func (s *Store) AddCourse(ctx context.Context, c domain.Caller, course domain.Course) (int64, error) {
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		exists := false
		b := &db.Batch{}
		b.Query(func(db.Rows) error { exists = true; return nil }, `SELECT 1 FROM companies WHERE id = $1`, c.Company.ID)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		if !exists {
			return domain.ErrCompanyNotFound(c.Company.ID)
		}
		course.OwnerCompanyID = c.Company.ID
		if err := s.insertCourse(ctx, tx, &course); err != nil {
			return err
		}
		b = &db.Batch{}
		s.grant(b, tx, c.Company.ID, course.ID)
		box.audit(b, tx.Now(), courseEntry(c, "course.added", course.ID))
		box.bumpVersion(b, domain.CacheCourses)
		return tx.Send(ctx, b)
	})
	return course.ID, err
}

// ArchiveCourse takes a course of the company's own out of what can be assigned.
// What was assigned stays. Codes: course_not_found, wrong_company.
func (s *Store) ArchiveCourse(ctx context.Context, c domain.Caller, id int64) error {
	return s.setArchived(ctx, c, id, true)
}

// RestoreCourse undoes ArchiveCourse. Codes: course_not_found, wrong_company.
func (s *Store) RestoreCourse(ctx context.Context, c domain.Caller, id int64) error {
	return s.setArchived(ctx, c, id, false)
}

func (s *Store) setArchived(ctx context.Context, c domain.Caller, id int64, archive bool) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		owner, found, archived := int64(0), false, false
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { found = true; return r.Scan(&owner, &archived) },
			`SELECT c.owner_company_id, c.archived_at IS NOT NULL FROM courses c WHERE c.id = $1`+s.db.ForUpdate("c"), id)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		switch {
		case !found:
			return domain.ErrCourseNotFound
		case owner != c.Company.ID:
			return domain.ErrCourseWrongCompany
		case archived == archive:
			return nil
		}
		var at *time.Time
		action := "course.restored"
		if archive {
			now := tx.Now()
			at, action = &now, "course.archived"
		}
		b = &db.Batch{}
		b.Exec(`UPDATE courses SET archived_at = $2 WHERE id = $1`, id, at)
		box.audit(b, tx.Now(), courseEntry(c, action, id))
		box.bumpVersion(b, domain.CacheCourses)
		tx.SendAndCommit(b)
		return nil
	})
}

func (s *Store) insertCourse(ctx context.Context, tx db.Tx, course *domain.Course) error {
	var parent *int64
	if course.ParentID != 0 {
		parent = &course.ParentID
	}
	made := false
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { made = true; return r.Scan(&course.ID) },
		`INSERT INTO courses (owner_company_id, parent_id, external_id, name, is_assessment, pass_mark, allowed_attempts, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) ON CONFLICT (owner_company_id, external_id) DO NOTHING RETURNING id`,
		course.OwnerCompanyID, parent, optionalText(course.ExternalID), course.Name, course.IsAssessment,
		int64(course.PassMark), course.AllowedAttempts, tx.Now())
	if err := tx.Send(ctx, b); err != nil {
		return err
	}
	if !made {
		return domain.ErrCourseIDTaken
	}
	b = &db.Batch{}
	s.setModules(b, *course)
	return tx.Send(ctx, b)
}

// module is a row of course_modules. The source is the position of a slice's module in
// its course, 0 if it has none.
type module struct {
	position int
	title    string
	source   int
}

// setModules queues the modules of a course. Those of a slice name the ones of its
// course that they are.
func (s *Store) setModules(b *db.Batch, course domain.Course) {
	b.Exec(`DELETE FROM course_modules WHERE course_id = $1`, course.ID)
	if len(course.Modules) == 0 {
		return
	}
	modules := make([]module, len(course.Modules))
	for i, title := range course.Modules {
		modules[i] = module{position: i + 1, title: title}
		if i < len(course.Sources) {
			modules[i].source = course.Sources[i]
		}
	}
	rows, args := s.db.ValuesTable(2, db.Columns(modules,
		db.IntColumn("position", func(m *module) int { return m.position }),
		db.TextColumn("title", func(m *module) string { return m.title }),
		db.IntColumn("source", func(m *module) int { return m.source }))...)
	b.Exec(`INSERT INTO course_modules (course_id, position, title, source_position)
		SELECT $1, r.position, r.title, CASE WHEN r.source > 0 THEN r.source END FROM `+rows+` r`, append([]any{course.ID}, args...)...)
}

func (s *Store) grant(b *db.Batch, tx db.Tx, company, course int64) {
	b.Exec(`INSERT INTO course_grants (company_id, course_id, granted_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		company, course, tx.Now())
}

func courseEntry(c domain.Caller, action string, id int64) domain.AuditEntry {
	return domain.AuditEntry{
		CompanyID: c.Company.ID, Actor: c.Actor, Action: action, RecordKind: "course", RecordID: strconv.FormatInt(id, 10),
	}
}

// Course returns a course that the company may assign. Codes: course_not_found,
// wrong_company.
func (s *Store) Course(ctx context.Context, company, id int64) (domain.Course, error) {
	var course domain.Course
	found, granted := false, false
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { found = true; return scanCourse(r, &course, &granted) },
		`SELECT `+courseColumns+`, EXISTS (SELECT 1 FROM course_grants g WHERE g.company_id = $1 AND g.course_id = c.id)
		FROM courses c WHERE c.id = $2`, company, id)
	if err := s.read(ctx, b); err != nil {
		return course, err
	}
	switch {
	case !found:
		return course, domain.ErrCourseNotFound
	case !granted:
		return course, domain.ErrCourseWrongCompany
	}
	b = &db.Batch{}
	b.Query(func(r db.Rows) error {
		var title string
		var source int
		err := r.Scan(&title, &source)
		course.Modules = append(course.Modules, title)
		if course.ParentID != 0 {
			course.Sources = append(course.Sources, source)
		}
		return err
	}, `SELECT title, coalesce(source_position, 0) FROM course_modules WHERE course_id = $1 ORDER BY position`, id)
	err := s.read(ctx, b)
	return course, err
}
