package store

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// RecordActivities applies activities of learners in the order given, with a fixed
// number of statements in one transaction. Error codes of an item:
// assignment_not_found, assignment_revoked.
//
// The platform reports activities of all companies. Those that would have to wait for a
// lock wait company by company, within the share of the connections of each, so that
// one company's locks do not hold up the activities of others.
func (s *Store) RecordActivities(ctx context.Context, items []domain.ActivityItem) ([]domain.ActivityResult, error) {
	if domain.CompanyFrom(ctx) != domain.PlatformWork {
		return s.recordActivities(ctx, items, false)
	}
	if !s.companyWrites.IsAnyUsedUp() {
		out, err := s.recordActivities(ctx, items, true)
		if !errors.Is(err, db.ErrLocked) {
			return out, err
		}
	}
	return s.recordByCompany(ctx, items)
}

// recordByCompany records the activities of each company in a transaction of its own. If
// one fails, the others are recorded all the same, and the report fails: repeating it
// changes nothing that was recorded.
func (s *Store) recordByCompany(ctx context.Context, items []domain.ActivityItem) ([]domain.ActivityResult, error) {
	companyOf, err := s.companiesOf(ctx, items)
	if err != nil {
		return nil, err
	}
	var companies []int64
	groups := map[int64][]int{}
	for i, it := range items {
		company := companyOf[it.Activity.AssignmentID]
		if groups[company] == nil {
			companies = append(companies, company)
		}
		groups[company] = append(groups[company], i)
	}
	out := make([]domain.ActivityResult, len(items))
	for _, company := range companies {
		group := make([]domain.ActivityItem, len(groups[company]))
		for k, i := range groups[company] {
			group[k] = items[i]
		}
		results, failed := s.recordActivities(domain.WithCompany(ctx, company), group, false)
		err = cmp.Or(err, failed)
		for k := range results {
			out[groups[company][k]] = results[k]
		}
	}
	return out, err
}

// companiesOf returns the company of each assignment that activities are about.
func (s *Store) companiesOf(ctx context.Context, items []domain.ActivityItem) (map[int64]int64, error) {
	ids := make([]int64, len(items))
	for i, it := range items {
		ids[i] = it.Activity.AssignmentID
	}
	out := map[int64]int64{}
	isReported, assignments := s.db.In("a.id", 1, db.Ints("id", sortedUnique(ids)))
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var id, company int64
		err := r.Scan(&id, &company)
		out[id] = company
		return err
	}, `SELECT a.id, a.company_id FROM assignments a WHERE `+isReported, assignments)
	return out, s.read(ctx, b)
}

// recordActivities does it in one transaction. With briefly, a lock that is not free soon
// is an ErrLocked.
func (s *Store) recordActivities(ctx context.Context, items []domain.ActivityItem, briefly bool) ([]domain.ActivityResult, error) {
	var out []domain.ActivityResult
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		report, err := s.loadActivities(ctx, tx, items, briefly)
		if err != nil {
			return err
		}
		out = report.apply(items, tx.Now())
		if len(report.accepted) == 0 {
			return nil
		}
		if len(report.events) > 0 {
			b := &db.Batch{}
			box.prepare(b, tx, len(report.events), report.companies()...)
			if err := tx.Send(ctx, b); err != nil {
				return err
			}
		}
		last := &db.Batch{}
		s.insertActivities(last, report.accepted, tx.Now())
		s.updateProgress(last, report.changed(), tx.Now())
		s.insertAttempts(last, report.attempts)
		s.insertMoves(last, report.moves)
		box.events(last, tx.Now(), report.events...)
		tx.SendAndCommit(last)
		return nil
	})
	return out, err
}

// activityReport is the state of one report while it is applied.
type activityReport struct {
	assignments map[int64]*trackedAssignment
	order       []int64
	recorded    map[string]bool
	accepted    []domain.Activity
	attempts    []attemptRow
	moves       []statusMove
	events      []domain.Event
}

type trackedAssignment struct {
	domain.Assignment
	before  domain.Status
	changed bool
}

type statusMove struct {
	a        domain.Assignment
	at       time.Time
	from, to domain.Status
	cause    string
}

// loadActivities locks the assignments first. What it reads then, in statements
// of their own, includes what was committed while it waited for the locks: the
// assignments, their employees' addresses and the activities recorded before.
func (s *Store) loadActivities(ctx context.Context, tx db.Tx, items []domain.ActivityItem, briefly bool) (*activityReport, error) {
	report := &activityReport{assignments: map[int64]*trackedAssignment{}, recorded: map[string]bool{}}
	var ids, finishing []int64
	var keys []string
	for _, it := range items {
		if it.Err != nil {
			continue
		}
		ids, keys = append(ids, it.Activity.AssignmentID), append(keys, it.Activity.ID)
		if it.Activity.MayFinish() {
			finishing = append(finishing, it.Activity.AssignmentID)
		}
	}
	isReported, assignments := s.db.In("a.id", 1, db.Ints("id", sortedUnique(ids)))
	b := &db.Batch{}
	if briefly {
		waitBriefly(b, s.db)
	}
	s.lockEmployees(b, finishing)
	if suffix := s.db.ForUpdate("a"); suffix != "" {
		b.Query(ignoreRow, `SELECT a.id FROM assignments a WHERE `+isReported+` ORDER BY a.id`+suffix, assignments)
	}
	b.Query(func(r db.Rows) error {
		a := &trackedAssignment{}
		err := scanAssignment(r, &a.Assignment)
		a.before = a.Status
		report.assignments[a.ID] = a
		report.order = append(report.order, a.ID)
		return err
	}, `SELECT `+assignmentColumns+assignmentsFirst(s.db)+` WHERE `+isReported+` ORDER BY a.id`, assignments)
	isKnown, activities := s.db.In("x.id", 1, db.Texts("id", sortedUnique(keys)))
	b.Query(func(r db.Rows) error {
		var id string
		err := r.Scan(&id)
		report.recorded[id] = true
		return err
	}, `SELECT x.id FROM activities x WHERE `+isKnown, activities)
	err := tx.Send(ctx, b)
	return report, err
}

func (r *activityReport) apply(items []domain.ActivityItem, now time.Time) []domain.ActivityResult {
	out := make([]domain.ActivityResult, len(items))
	for i, it := range items {
		if it.Err != nil {
			out[i].Err = it.Err
			continue
		}
		a, ok := r.assignments[it.Activity.AssignmentID]
		switch {
		case !ok:
			out[i].Err = domain.ErrAssignmentNotFound
		case a.RevokedAt != nil:
			out[i].Err = domain.ErrAssignmentRevoked
		default:
			r.applyOne(a, it.Activity, now)
			out[i].Status = a.Status
		}
	}
	return out
}

func (r *activityReport) applyOne(a *trackedAssignment, act domain.Activity, now time.Time) {
	if r.recorded[act.ID] {
		return
	}
	r.recorded[act.ID] = true
	if act.OccurredAt.IsZero() {
		act.OccurredAt = now
	}
	r.accepted = append(r.accepted, act)
	before := a.Assignment
	if !a.Apply(a.Rule, act) {
		return
	}
	a.changed = true
	if a.Status == domain.StatusCompleted && before.OwesOverdue(now) {
		r.events = append(r.events, domain.AssignmentEvent(domain.EventAssignmentOverdue, before, now))
		a.OverdueAt = &now
	}
	if moves := movesOf(before, a.Assignment, act, act.OccurredAt); len(moves) > 0 {
		r.moves = append(r.moves, moves...)
		r.addEvent(a.Assignment, now)
	}
	r.attempts = upsertAttempt(r.attempts, a.Assignment)
}

// movesOf returns the changes of status that an activity has made. An activity that
// ends an attempt which had not begun makes two.
func movesOf(before, after domain.Assignment, act domain.Activity, at time.Time) (out []statusMove) {
	from := before.Status
	if after.Attempts > before.Attempts { // reported or implied
		out = append(out, statusMove{a: after, at: at, from: from, to: domain.StatusStarted, cause: string(act.Type)})
		from = domain.StatusStarted
	}
	if from != after.Status {
		out = append(out, statusMove{a: after, at: at, from: from, to: after.Status, cause: string(act.Type)})
	}
	return out
}

// attemptRow is the state of an assignment's latest attempt.
type attemptRow struct {
	company, assignment int64
	number              int
	startedAt           time.Time
	endedAt             *time.Time
	score               *int64
	passed              *int64
}

// upsertAttempt adds or replaces the row of an assignment's latest attempt.
func upsertAttempt(rows []attemptRow, a domain.Assignment) []attemptRow {
	row := attemptRow{company: a.CompanyID, assignment: a.ID, number: a.Attempts, startedAt: *a.AttemptAt}
	if a.Status != domain.StatusStarted {
		row.endedAt = a.EndedAt
		row.score = (*int64)(a.Score)
		passed := int64(0)
		if a.Passed() {
			passed = 1
		}
		row.passed = &passed
	}
	for i := range rows {
		if rows[i].assignment == row.assignment && rows[i].number == row.number {
			rows[i] = row
			return rows
		}
	}
	return append(rows, row)
}

func (r *activityReport) changed() []domain.Assignment {
	var out []domain.Assignment
	for _, id := range r.order {
		if a := r.assignments[id]; a.changed {
			out = append(out, a.Assignment)
		}
	}
	return out
}

// addEvent adds the event of an assignment's new status, if it has one.
func (r *activityReport) addEvent(a domain.Assignment, now time.Time) {
	switch a.Status {
	case domain.StatusCompleted:
		r.events = append(r.events, domain.AssignmentEvent(domain.EventAssignmentCompleted, a, now))
	case domain.StatusFailed:
		r.events = append(r.events, domain.AssignmentEvent(domain.EventAssignmentFailed, a, now))
	}
}

func (r *activityReport) companies() []int64 {
	var out []int64
	for _, e := range r.events {
		out = append(out, e.CompanyID)
	}
	return sortedUnique(out)
}

func (s *Store) insertActivities(b *db.Batch, acts []domain.Activity, now time.Time) {
	rows, args := s.db.ValuesTable(2, db.Columns(acts,
		db.TextColumn("id", func(a *domain.Activity) string { return a.ID }),
		db.IntColumn("assignment_id", func(a *domain.Activity) int64 { return a.AssignmentID }))...)
	b.Exec(`INSERT INTO activities (id, assignment_id, received_at) SELECT r.id, r.assignment_id, $1 FROM `+rows+` r ORDER BY r.id`,
		append([]any{now}, args...)...)
}
