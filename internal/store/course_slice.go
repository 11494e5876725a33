package store

import (
	"context"
	"strconv"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// CourseOverviews returns all courses that a company may assign or could before they
// were archived, with their figures, by ascending id. The figures are kept totals.
func (s *Store) CourseOverviews(ctx context.Context, company int64) ([]domain.CourseOverview, error) {
	totals, err := s.AssignmentTotals(ctx, company)
	if err != nil {
		return nil, err
	}
	var out []domain.CourseOverview
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var o domain.CourseOverview
		err := scanCourse(r, &o.Course, &o.ModuleCount)
		if t := totals[o.ID]; t != nil {
			o.Totals = *t
		}
		out = append(out, o)
		return err
	}, `SELECT `+courseColumns+`, (SELECT count(*) FROM course_modules m WHERE m.course_id = c.id)
		FROM course_grants g JOIN courses c ON c.id = g.course_id WHERE g.company_id = $1 ORDER BY c.id`, company)
	err = s.read(ctx, b)
	return out, err
}

// DaysToComplete returns how many live assignments of a course were completed in each
// number of whole days.
func (s *Store) DaysToComplete(ctx context.Context, company, course int64) (map[int]int64, error) {
	out := map[int]int64{}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var text string
		var n int64
		if err := r.Scan(&text, &n); err != nil {
			return err
		}
		days, err := strconv.Atoi(text)
		out[days] = n
		return err
	}, `SELECT k.text_key, CAST(sum(k.n) AS bigint) FROM (
			SELECT text_key, n FROM totals WHERE company_id = $1 AND kind = '`+totalDaysTaken+`' AND number_key = $2
			UNION ALL SELECT text_key, n FROM total_changes WHERE company_id = $1 AND kind = '`+totalDaysTaken+`' AND number_key = $2
		) k GROUP BY k.text_key HAVING sum(k.n) > 0`, company, course)
	err := s.read(ctx, b)
	return out, err
}

// EditSlice changes the name, the external id and the modules of a slice that no live
// assignment has. An assignment that is being made meanwhile has locked the course, so
// that it is seen. Codes: course_not_found, wrong_company, external_id_taken, conflict.
func (s *Store) EditSlice(ctx context.Context, c domain.Caller, slice domain.Course) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		var old domain.Course
		found := false
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { found = true; return scanCourse(r, &old) },
			`SELECT `+courseColumns+` FROM courses c WHERE c.id = $1`+s.db.ForUpdate("c"), slice.ID)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		switch {
		case !found:
			return domain.ErrCourseNotFound
		case old.OwnerCompanyID != c.Company.ID:
			return domain.ErrCourseWrongCompany
		case old.ParentID == 0:
			return domain.ErrNotASlice
		}
		used, taken := false, false
		b = &db.Batch{}
		b.Query(func(db.Rows) error { used = true; return nil },
			`SELECT 1 FROM assignments WHERE company_id = $1 AND course_id = $2 AND revoked_at IS NULL LIMIT 1`, c.Company.ID, slice.ID)
		b.Query(func(db.Rows) error { taken = true; return nil },
			`SELECT 1 FROM courses WHERE owner_company_id = $1 AND external_id = $2 AND id <> $3`, c.Company.ID, slice.ExternalID, slice.ID)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		switch {
		case used:
			return domain.ErrSliceInUse
		case taken:
			return domain.ErrCourseIDTaken
		}
		b = &db.Batch{}
		b.Exec(`UPDATE courses SET name = $2, external_id = $3, updated_at = $4 WHERE id = $1`,
			slice.ID, slice.Name, optionalText(slice.ExternalID), tx.Now())
		s.setModules(b, slice)
		box.audit(b, tx.Now(), courseEntry(c, "course.changed", slice.ID))
		box.bumpVersion(b, domain.CacheCourses)
		tx.SendAndCommit(b)
		return nil
	})
}
