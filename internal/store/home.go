package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// HomeFigures returns the figures of a company's first page, with its completions
// since an instant. They are kept totals, unless Counting is true; only assignments
// near their deadline are counted.
func (s *Store) HomeFigures(ctx context.Context, company int64, completedSince time.Time) (domain.HomeFigures, error) {
	var out domain.HomeFigures
	kept, err := s.hasFigures(ctx, company)
	if err != nil {
		return out, err
	}
	out.Counting = !kept
	if out.Courses, err = s.AssignmentTotals(ctx, company); err != nil {
		return out, err
	}
	out.Today.Overdue = int64(out.Courses.Company().Overdue)
	now := s.Now()
	var c conditions
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		return r.Scan(&out.Today.Employees, &out.Today.Required, &out.Today.RequiredCompleted)
	}, `SELECT `+c.keptTotal(company, totalEmployees, "number_key = 0", "text_key = ''")+`, `+c.keptTotal(company, totalRequired)+`, `+
		c.keptTotal(company, totalRequired, "text_key = '"+string(domain.StatusCompleted)+"'"), c.args...)
	queueDueSoon(b, company, now, func(n int64) { out.DueSoon = n })
	b.Query(func(r db.Rows) error {
		var seconds int64
		var h domain.HourCount
		err := r.Scan(&seconds, &h.N)
		h.Start = time.Unix(seconds, 0).UTC()
		out.Completions = append(out.Completions, h)
		return err
	}, `SELECT k.number_key, CAST(sum(k.n) AS bigint) FROM (
			SELECT number_key, n FROM totals WHERE company_id = $1 AND kind = '`+totalCompleted+`' AND number_key >= $2
			UNION ALL SELECT number_key, n FROM total_changes WHERE company_id = $1 AND kind = '`+totalCompleted+`' AND number_key >= $2
		) k GROUP BY k.number_key HAVING sum(k.n) <> 0 ORDER BY k.number_key`, company, completedSince.Unix())
	s.queueEarlier(b, company, now, &out)
	err = s.read(ctx, b)
	return out, err
}

// hasFigures reports whether the totals of a company are complete, with those that
// only the cabinet's figures need.
func (s *Store) hasFigures(ctx context.Context, company int64) (bool, error) {
	return s.isComplete(ctx, &s.keptFigures, "figures_kept_at", company)
}

// queueDueSoon queues the number of open assignments that are due within
// domain.DueSoon. Whole hours are kept; those of the two hours in which the period
// begins and ends are counted.
func queueDueSoon(b *db.Batch, company int64, now time.Time, see func(n int64)) {
	end := now.Add(domain.DueSoon)
	from, to := now.Truncate(time.Hour).Add(time.Hour), end.Truncate(time.Hour)
	var c conditions
	count := func(after, until time.Time, first, last string) string {
		return `(SELECT count(*) FROM assignments WHERE company_id = ` + c.arg(company) + ` AND revoked_at IS NULL AND status <> 'completed'
			AND deadline ` + first + ` ` + c.arg(after) + ` AND deadline ` + last + ` ` + c.arg(until) + `)`
	}
	sum := count(now, from, ">", "<") + ` + ` + count(to, end, ">=", "<=")
	for _, table := range []string{"totals", "total_changes"} {
		sum += ` + coalesce((SELECT sum(n) FROM ` + table + ` WHERE company_id = ` + c.arg(company) + ` AND kind = '` + totalDue + `'
			AND number_key >= ` + c.arg(from.Unix()) + ` AND number_key < ` + c.arg(to.Unix()) + `), 0)`
	}
	b.Query(func(r db.Rows) error {
		var n int64
		err := r.Scan(&n)
		see(n)
		return err
	}, `SELECT CAST(`+sum+` AS bigint)`, c.args...)
}

// dayFigures maps the text_key of each figure of a day to its field.
var dayFigures = map[string]func(f *domain.DayFigures) *int64{
	"employees":          func(f *domain.DayFigures) *int64 { return &f.Employees },
	"overdue":            func(f *domain.DayFigures) *int64 { return &f.Overdue },
	"required":           func(f *domain.DayFigures) *int64 { return &f.Required },
	"required_completed": func(f *domain.DayFigures) *int64 { return &f.RequiredCompleted },
}

// queueEarlier queues the figures of the first day of the last domain.FigureDays days
// that has any.
func (s *Store) queueEarlier(b *db.Batch, company int64, now time.Time, out *domain.HomeFigures) {
	today := now.Truncate(24 * time.Hour)
	first := today.AddDate(0, 0, -domain.FigureDays).Unix()
	b.Query(func(r db.Rows) error {
		var seconds, n int64
		var figure string
		if err := r.Scan(&seconds, &figure, &n); err != nil {
			return err
		}
		day := time.Unix(seconds, 0).UTC()
		out.EarlierAt = &day
		if field, known := dayFigures[figure]; known {
			*field(&out.Earlier) = n
		}
		return nil
	}, `SELECT number_key, text_key, n FROM totals WHERE company_id = $1 AND kind = '`+totalDayFigures+`' AND number_key =
		(SELECT min(number_key) FROM totals WHERE company_id = $1 AND kind = '`+totalDayFigures+`' AND number_key >= $2 AND number_key < $3)`,
		company, first, today.Unix())
}

// dayFiguresKept is for how many days the figures of a day are kept.
const dayFiguresKept = 400

// KeepDayFigures stores today's figures of every company whose figures are complete
// and that has none for today yet. Several processes may call it at once.
func (s *Store) KeepDayFigures(ctx context.Context) error {
	today := s.Now().Truncate(24 * time.Hour)
	var missing []int64
	b := &db.Batch{}
	b.Query(appendColumn(&missing), `SELECT c.company_id FROM total_companies c WHERE c.figures_kept_at IS NOT NULL AND NOT EXISTS
		(SELECT 1 FROM totals t WHERE t.company_id = c.company_id AND t.kind = '`+totalDayFigures+`' AND t.number_key = $1)`, today.Unix())
	if err := s.read(ctx, b); err != nil {
		return err
	}
	for _, company := range missing {
		if err := s.keepDayFigures(ctx, company, today); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) keepDayFigures(ctx context.Context, company int64, day time.Time) error {
	figures, err := s.HomeFigures(ctx, company, s.Now())
	if err != nil {
		return err
	}
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		b := &db.Batch{}
		for _, figure := range slices.Sorted(maps.Keys(dayFigures)) {
			b.Exec(`INSERT INTO totals (company_id, kind, number_key, text_key, n) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
				company, totalDayFigures, day.Unix(), figure, *dayFigures[figure](&figures.Today))
		}
		b.Exec(`DELETE FROM totals WHERE company_id = $1 AND kind = $2 AND number_key < $3`,
			company, totalDayFigures, day.AddDate(0, 0, -dayFiguresKept).Unix())
		return tx.Send(ctx, b)
	})
}
