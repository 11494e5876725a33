package service

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// ReportCountStore is what the cabinet's reports need of the database.
type ReportCountStore interface {
	AssignmentTotals(ctx context.Context, company int64) (domain.AssignmentTotals, error)
	CompletionByCourse(ctx context.Context, company int64, q domain.ReportQuestion) ([]domain.Completion, error)
	CompletionByTag(ctx context.Context, company int64, q domain.ReportQuestion) ([]domain.Completion, error)
	PeopleByTag(ctx context.Context, company int64) (map[string]int64, error)
	Lateness(ctx context.Context, company int64, q domain.ReportQuestion) (domain.Lateness, error)
	Compliance(ctx context.Context, company int64, q domain.ReportQuestion) ([]domain.Compliance, error)
	CourseNames(ctx context.Context, ids []int64) (map[int64]string, error)
	EmployeeOverviews(ctx context.Context, company int64, f domain.EmployeeListFilter, p domain.PageRequest) (domain.EmployeePage, error)
	MatrixCells(ctx context.Context, company int64, people, courses []int64) (map[domain.MatrixKey]domain.MatrixCell, error)
}

// UsedCourses returns the courses that have live assignments, archived ones too, by
// name.
func (r *Reports) UsedCourses(ctx context.Context, c domain.Caller) ([]domain.NamedCourse, error) {
	totals, err := r.store.AssignmentTotals(ctx, c.Company.ID)
	if err != nil {
		return nil, err
	}
	var out []domain.NamedCourse
	var ids []int64
	for id, t := range totals {
		if t.Count() > 0 {
			ids, out = append(ids, id), append(out, domain.NamedCourse{ID: id})
		}
	}
	names, err := r.store.CourseNames(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Name = names[out[i].ID]
	}
	slices.SortFunc(out, func(x, y domain.NamedCourse) int {
		return cmp.Or(strings.Compare(domain.FoldName(x.Name), domain.FoldName(y.Name)), cmp.Compare(x.ID, y.ID))
	})
	return out, nil
}

// usedCourseNames returns the names of the courses that have live assignments.
func (r *Reports) usedCourseNames(ctx context.Context, c domain.Caller) (map[int64]string, error) {
	courses, err := r.UsedCourses(ctx, c)
	names := make(map[int64]string, len(courses))
	for _, course := range courses {
		names[course.ID] = course.Name
	}
	return names, err
}

// CompletionByCourse counts assignments by course, the one with the most first.
func (r *Reports) CompletionByCourse(ctx context.Context, c domain.Caller, q domain.ReportQuestion) (Counted[[]domain.Completion], error) {
	if q.Tag != "" || q.Required.Flag() != nil {
		return counted(ctx, r, countKey{c.Company.ID, domain.ReportCourses, q}, func(ctx context.Context) ([]domain.Completion, error) {
			return r.countByCourse(ctx, c, q)
		})
	}
	rows, err := r.countByCourse(ctx, c, q)
	return Counted[[]domain.Completion]{Value: rows, At: r.store.Now()}, err
}

// countByCourse reads the kept totals where they answer the question.
func (r *Reports) countByCourse(ctx context.Context, c domain.Caller, q domain.ReportQuestion) ([]domain.Completion, error) {
	var out []domain.Completion
	if q.Tag != "" || q.Required.Flag() != nil {
		rows, err := r.store.CompletionByCourse(ctx, c.Company.ID, q)
		if err != nil {
			return nil, err
		}
		out = rows
	} else {
		totals, err := r.store.AssignmentTotals(ctx, c.Company.ID)
		if err != nil {
			return nil, err
		}
		for id, t := range totals {
			if t.Count() > 0 && (q.CourseID == 0 || q.CourseID == id) {
				out = append(out, domain.CompletionOf(id, t))
			}
		}
	}
	sortCompletions(out)
	return out, nil
}

func sortCompletions(rows []domain.Completion) {
	slices.SortFunc(rows, func(x, y domain.Completion) int {
		return cmp.Or(cmp.Compare(y.Assigned, x.Assigned), strings.Compare(x.Tag, y.Tag), cmp.Compare(x.CourseID, y.CourseID))
	})
}

// CompletionByTag counts assignments by the tags of their employees, the tag with the
// most first.
func (r *Reports) CompletionByTag(ctx context.Context, c domain.Caller, q domain.ReportQuestion) (Counted[[]domain.Completion], error) {
	return counted(ctx, r, countKey{c.Company.ID, domain.ReportTags, q}, func(ctx context.Context) ([]domain.Completion, error) {
		return r.countByTag(ctx, c, q)
	})
}

func (r *Reports) countByTag(ctx context.Context, c domain.Caller, q domain.ReportQuestion) ([]domain.Completion, error) {
	rows, err := r.store.CompletionByTag(ctx, c.Company.ID, q)
	if err != nil {
		return nil, err
	}
	people, err := r.store.PeopleByTag(ctx, c.Company.ID)
	for i := range rows {
		rows[i].People = people[rows[i].Tag]
	}
	sortCompletions(rows)
	return rows, err
}

// Lateness counts overdue assignments by how late they are.
func (r *Reports) Lateness(ctx context.Context, c domain.Caller, q domain.ReportQuestion) (Counted[domain.Lateness], error) {
	return counted(ctx, r, countKey{c.Company.ID, domain.ReportOverdue, q}, func(ctx context.Context) (domain.Lateness, error) {
		return r.store.Lateness(ctx, c.Company.ID, q)
	})
}

// Compliance counts the required assignments that were due before q.On, by course,
// the one with the most first.
func (r *Reports) Compliance(ctx context.Context, c domain.Caller, q domain.ReportQuestion) (Counted[[]domain.Compliance], error) {
	return counted(ctx, r, countKey{c.Company.ID, domain.ReportCompliance, q}, func(ctx context.Context) ([]domain.Compliance, error) {
		return r.countCompliance(ctx, c, q)
	})
}

func (r *Reports) countCompliance(ctx context.Context, c domain.Caller, q domain.ReportQuestion) ([]domain.Compliance, error) {
	rows, err := r.store.Compliance(ctx, c.Company.ID, q)
	slices.SortFunc(rows, func(x, y domain.Compliance) int {
		return cmp.Or(cmp.Compare(y.Due(), x.Due()), cmp.Compare(x.CourseID, y.CourseID))
	})
	return rows, err
}

// Matrix returns a page of people with what they have done in a part of the courses.
// Codes: invalid_request.
func (r *Reports) Matrix(ctx context.Context, c domain.Caller, q domain.MatrixQuery, p domain.PageRequest) (domain.Matrix, error) {
	out, err := r.matrixCourses(ctx, c, q)
	if err != nil {
		return out, err
	}
	if out.People, err = r.store.EmployeeOverviews(ctx, c.Company.ID, q.People, p); err != nil {
		return out, err
	}
	out.Cells, err = r.matrixCells(ctx, c, out.People.Items, out.Courses)
	return out, err
}

func (r *Reports) matrixCourses(ctx context.Context, c domain.Caller, q domain.MatrixQuery) (domain.Matrix, error) {
	var out domain.Matrix
	if err := q.People.Check(); err != nil {
		return out, err
	}
	courses, err := r.UsedCourses(ctx, c)
	if q.CourseID != 0 {
		courses = slices.DeleteFunc(courses, func(course domain.NamedCourse) bool { return course.ID != q.CourseID })
	}
	out.AllCourses = len(courses)
	out.Courses, out.Part = domain.CoursesPart(courses, q.Part)
	return out, err
}

func (r *Reports) matrixCells(ctx context.Context, c domain.Caller, people []domain.EmployeeOverview, courses []domain.NamedCourse) (map[domain.MatrixKey]domain.MatrixCell, error) {
	var rows, columns []int64
	for _, e := range people {
		rows = append(rows, e.ID)
	}
	for _, course := range courses {
		columns = append(columns, course.ID)
	}
	return r.store.MatrixCells(ctx, c.Company.ID, rows, columns)
}
