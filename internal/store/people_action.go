package store

import (
	"context"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// CountPeople counts the employees who are picked, and their open assignments, each up
// to domain.MaxActCount. With more people it does not count assignments.
func (s *Store) CountPeople(ctx context.Context, company int64, who domain.People) (domain.PeopleCount, error) {
	var out domain.PeopleCount
	people, args := s.pickPeople(company, who)
	cond := &conditions{args: args}
	limit := cond.limit(domain.PageRequest{Limit: domain.MaxActCount})
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&out.People) }, `SELECT count(*) FROM (SELECT 1 FROM (`+people+`) p`+limit+`) c`, cond.args...)
	if err := s.read(ctx, b); err != nil || out.People > domain.MaxActCount {
		out.More = out.People > domain.MaxActCount
		return out, err
	}
	b = &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&out.Open) }, `SELECT count(*) FROM (SELECT 1 FROM assignments a
		WHERE a.company_id = $1 AND a.revoked_at IS NULL AND a.status <> 'completed' AND a.employee_id IN (`+people+`)`+limit+`) c`, cond.args...)
	err := s.read(ctx, b)
	out.More = out.Open > domain.MaxActCount
	return out, err
}

// AddPeopleJob starts an act on the employees who are picked now: the job works on
// exactly these, whoever matches later.
func (s *Store) AddPeopleJob(ctx context.Context, c domain.Caller, in domain.NewJob, who domain.People) (domain.Job, error) {
	return s.AddAssignJob(ctx, c, in, who)
}

// StepPeople does an act to the next employees of a job, up to limit, and saves the
// job's progress in the same transaction, so that each is changed exactly once.
func (s *Store) StepPeople(ctx context.Context, c domain.Caller, act domain.PeopleAction, job domain.Job, limit int) error {
	next, err := s.nextStep(ctx, job, limit)
	if err != nil {
		return err
	}
	return s.write(ctx, func(dbTx db.Tx, box *outbox) error {
		tx := callerTx{dbTx, box, c}
		found, err := s.loadPeople(ctx, tx, act, next.records)
		if err != nil {
			return err
		}
		b := &db.Batch{}
		changed, results := decidePeople(act, next.records, found)
		s.actOnPeople(b, tx, act, changed)
		tally := decodeTally(job.Result)
		tally.Add(results)
		s.noteOutcomes(b, job, results, tx.Now())
		progress := next.progress
		progress.Result = tally
		if err := queueJobProgress(b, tx.Now(), job, progress); err != nil {
			return err
		}
		return tx.Send(ctx, b)
	})
}

// loadPeople locks and reads the live employees among the ids, and what else the act
// needs, in the order of locks.
func (s *Store) loadPeople(ctx context.Context, tx callerTx, act domain.PeopleAction, ids []int64) (map[int64]domain.Employee, error) {
	found := map[int64]domain.Employee{}
	company := tx.caller.Company.ID
	isNamed, keys := s.db.In("e.id", 2, db.Ints("id", ids))
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var e domain.Employee
		err := scanEmployee(r, &e)
		found[e.ID] = e
		return err
	}, `SELECT `+employeeColumns+` FROM employees e WHERE e.company_id = $1 AND `+isNamed+` AND e.left_at IS NULL
		ORDER BY e.id`+s.db.ForUpdate("e"), company, keys)
	if act.Kind == domain.PeopleOffboard && act.At == nil {
		if suffix := s.db.ForUpdate("a"); suffix != "" {
			isHeld, keys := s.db.In("a.employee_id", 2, db.Ints("id", ids))
			b.Query(ignoreRow, `SELECT a.id FROM assignments a WHERE a.company_id = $1 AND a.revoked_at IS NULL AND `+isHeld+`
				ORDER BY a.id`+suffix, company, keys)
		}
		tx.box.prepare(b, tx, len(ids), company)
	}
	err := tx.Send(ctx, b)
	return found, err
}

// decidePeople returns the employees who change, as they are afterwards, and what
// becomes of each.
func decidePeople(act domain.PeopleAction, ids []int64, found map[int64]domain.Employee) (changed []domain.Employee, results []domain.ActResult) {
	for _, id := range ids {
		e, live := found[id]
		outcome := domain.OutcomeDone
		tags, err := e.Tags, error(nil)
		if act.Kind != domain.PeopleOffboard {
			tags, err = act.ApplyTags(e.Tags)
		}
		switch {
		case !live:
			outcome = string(domain.CodeEmployeeOffboarded)
		case err != nil:
			outcome = string(domain.CodeOf(err))
		case act.Kind != domain.PeopleOffboard && slices.Equal(tags, e.Tags):
			outcome = domain.OutcomeUnchanged
		default:
			e.Tags = tags
			changed = append(changed, e)
		}
		results = append(results, domain.ActResult{ID: id, Outcome: outcome})
	}
	return changed, results
}

// actOnPeople queues the changes.
func (s *Store) actOnPeople(b *db.Batch, tx callerTx, act domain.PeopleAction, changed []domain.Employee) {
	switch {
	case len(changed) == 0:
	case act.Kind != domain.PeopleOffboard:
		s.updateTags(b, tx, changed)
	case act.At == nil:
		s.offboardAll(b, tx, changed)
	default:
		s.planAll(b, tx, changed, *act.At)
	}
}

// updateTags queues the new tags of employees, with their audit entries.
func (s *Store) updateTags(b *db.Batch, tx callerTx, changed []domain.Employee) {
	s.storeTags(b, tx, changed)
	tx.box.audit(b, tx.Now(), peopleEntries(tx.caller, "employee.changed", "Changed: tags.", changed)...)
}

// storeTags queues the new tags of employees, in their rows and in the table that
// lists filter by.
func (s *Store) storeTags(b *db.Batch, tx callerTx, changed []domain.Employee) {
	company := tx.caller.Company.ID
	rows, args := s.db.ValuesTable(3, db.Columns(changed,
		db.IntColumn("key_id", func(e *domain.Employee) int64 { return e.ID }),
		db.TextColumn("new_tags", func(e *domain.Employee) string { return encodeList(e.Tags) }))...)
	b.Exec(`UPDATE employees SET tags = r.new_tags, updated_at = $2 FROM `+rows+` r
		WHERE employees.company_id = $1 AND employees.id = r.key_id`, append([]any{company, tx.Now()}, args...)...)
	isChanged, keys := s.db.In("employee_id", 2, db.Ints("id", employeeIDs(changed)))
	b.Exec(`DELETE FROM employee_tags WHERE company_id = $1 AND `+isChanged, company, keys)
	insertTags(b, s.db, changed)
}

// planAll queues the planned offboarding of employees.
func (s *Store) planAll(b *db.Batch, tx callerTx, changed []domain.Employee, at time.Time) {
	company, by := tx.caller.Company.ID, tx.caller.Actor
	isChanged, keys := s.db.In("employee_id", 2, db.Ints("id", employeeIDs(changed)))
	b.Exec(`DELETE FROM planned_offboardings WHERE company_id = $1 AND `+isChanged, company, keys)
	rows, args := s.db.ValuesTable(6, db.Ints("key_id", employeeIDs(changed)))
	b.Exec(`INSERT INTO planned_offboardings (company_id, employee_id, at, actor_kind, actor_id, actor_label)
		SELECT $1, r.key_id, $2, CAST($3 AS text), CAST($4 AS bigint), CAST($5 AS text) FROM `+rows+` r`,
		append([]any{company, at, string(by.Kind), by.ID, auditLabel(by)}, args...)...)
	tx.box.audit(b, tx.Now(), peopleEntries(tx.caller, "employee.offboarding_planned", "", changed)...)
}

// offboardAll queues the offboarding of employees whose rows and live assignments are
// locked. The events must have been prepared.
func (s *Store) offboardAll(b *db.Batch, tx callerTx, leaving []domain.Employee) {
	company := tx.caller.Company.ID
	isLeaving, keys := s.db.In("id", 3, db.Ints("id", employeeIDs(leaving)))
	b.Exec(`UPDATE employees SET left_at = $2, updated_at = $2 WHERE company_id = $1 AND `+isLeaving+` AND left_at IS NULL`, company, tx.Now(), keys)
	isHeld, holders := s.db.In("employee_id", 3, db.Ints("id", employeeIDs(leaving)))
	b.Exec(`UPDATE assignments SET revoked_at = $2, updated_at = $2 WHERE company_id = $1 AND `+isHeld+` AND revoked_at IS NULL`, company, tx.Now(), holders)
	isPlanned, planned := s.db.In("employee_id", 2, db.Ints("id", employeeIDs(leaving)))
	b.Exec(`DELETE FROM planned_offboardings WHERE company_id = $1 AND `+isPlanned, company, planned)
	tx.box.audit(b, tx.Now(), peopleEntries(tx.caller, "employee.offboarded", "", leaving)...)
	events := make([]domain.Event, len(leaving))
	for i, e := range leaving {
		events[i] = domain.EmployeeRemoved(e, domain.ReasonOffboarded, tx.Now())
	}
	tx.box.events(b, tx.Now(), events...)
}

// peopleEntries returns one audit entry for each employee: they are their history.
func peopleEntries(c domain.Caller, action, detail string, changed []domain.Employee) []domain.AuditEntry {
	entries := make([]domain.AuditEntry, len(changed))
	for i, e := range changed {
		entries[i] = employeeEntry(c, action, e.ID, detail)
	}
	return entries
}

func employeeIDs(list []domain.Employee) []int64 {
	out := make([]int64, len(list))
	for i, e := range list {
		out[i] = e.ID
	}
	return out
}
