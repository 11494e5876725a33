package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// AddJob queues background work. It writes no audit entry; each step writes its own.
func (s *Store) AddJob(ctx context.Context, c domain.Caller, in domain.NewJob) (domain.Job, error) {
	var out domain.Job
	err := s.write(ctx, func(tx db.Tx, _ *outbox) error {
		if err := tx.Send(ctx, nil); err != nil {
			return err
		}
		if in.Items != nil {
			in.Total = int64(len(in.Items))
		}
		var err error
		if out, err = s.insertJob(ctx, tx, c, in); err != nil || len(in.Items) == 0 {
			return err
		}
		rows, args := s.db.ValuesTable(3, db.Ints("record_id", in.Items))
		_, err = tx.Exec(ctx, `INSERT INTO job_items (company_id, job_id, record_id)
			SELECT $1, $2, r.record_id FROM `+rows+` r WHERE true ON CONFLICT DO NOTHING`, append([]any{c.Company.ID, out.ID}, args...)...)
		return err
	})
	return out, err
}

// insertJob inserts the row of a job in a transaction that has begun. Codes:
// idempotency_conflict when the company has too many open jobs.
func (s *Store) insertJob(ctx context.Context, tx db.Tx, c domain.Caller, in domain.NewJob) (domain.Job, error) {
	input, err := json.Marshal(in.Input)
	if err != nil {
		return domain.Job{}, fmt.Errorf("encode the input of a job: %w", err)
	}
	out := domain.Job{
		CompanyID: c.Company.ID, Kind: in.Kind, Input: input, Total: in.Total, Result: json.RawMessage("null"),
		RequestedBy: c.Actor.Label, Actor: c.Actor, Role: c.Role, CreatedAt: tx.Now(),
	}
	// Nothing is inserted if another transaction has taken the chosen slot: then another
	// one is chosen. What was inserted in spite of the limit is rolled back.
	for out.ID == 0 {
		open := 0
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&open) },
			`SELECT count(*) FROM jobs WHERE company_id = $1 AND finished_at IS NULL`, c.Company.ID)
		b.Query(func(r db.Rows) error { return r.Scan(&out.ID) }, insertJobSQL,
			c.Company.ID, string(in.Kind), string(input), in.Total, string(c.Actor.Kind), c.Actor.ID, c.Actor.Ref(), string(c.Role),
			c.Actor.Address, c.Actor.RequestID, tx.Now())
		if err := tx.Send(ctx, b); err != nil {
			return out, err
		}
		if open >= domain.MaxOpenJobs {
			return out, domain.ErrTooManyJobs
		}
	}
	return out, nil
}

// insertJobSQL puts a job into any free slot of its company. It inserts nothing if
// another transaction has taken that slot meanwhile. A random one is taken, so that
// jobs that are started at the same time seldom wait for each other.
var insertJobSQL = `INSERT INTO jobs (company_id, kind, input, total, done, cursor, result, failures, problem, actor_kind, actor_id, requested_by,
		role, address, request_id, created_at, slot)
	SELECT $1, CAST($2 AS text), CAST($3 AS text), CAST($4 AS bigint), 0, '', 'null', 0, '', CAST($5 AS text), CAST($6 AS bigint), CAST($7 AS text),
		CAST($8 AS text), CAST($9 AS text), CAST($10 AS text), $11, f.n
	FROM (WITH RECURSIVE slots (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM slots WHERE n < ` + strconv.Itoa(domain.MaxOpenJobs) + `)
		SELECT n FROM slots WHERE n NOT IN (SELECT j.slot FROM jobs j WHERE j.company_id = $1 AND j.finished_at IS NULL AND j.slot IS NOT NULL)
		ORDER BY random() LIMIT 1) f
	WHERE true ON CONFLICT (company_id, slot) WHERE finished_at IS NULL DO NOTHING RETURNING id`

var jobColumns = `j.company_id, j.id, j.kind, j.input, j.total, j.done, j.cursor, j.result, j.problem, ` + actorLabelSQL("j.requested_by") + `,
	j.actor_kind, j.actor_id, j.role, j.address, j.request_id, j.created_at, j.finished_at, j.canceled_at`

func scanJob(r db.Rows, j *domain.Job) error {
	var input, result string
	err := r.Scan(&j.CompanyID, &j.ID, &j.Kind, &input, &j.Total, &j.Done, &j.Cursor, &result, &j.Problem, &j.RequestedBy,
		&j.Actor.Kind, &j.Actor.ID, &j.Role, &j.Actor.Address, &j.Actor.RequestID, &j.CreatedAt, &j.FinishedAt, &j.CanceledAt)
	j.Input, j.Result, j.Actor.Label = json.RawMessage(input), json.RawMessage(result), j.RequestedBy
	return err
}

// Job returns a job with its progress. Codes: not_found.
func (s *Store) Job(ctx context.Context, company, id int64) (domain.Job, error) {
	jobs, err := s.jobs(ctx, `WHERE j.company_id = $1 AND j.id = $2`, company, id)
	if err == nil && len(jobs) == 0 {
		return domain.Job{}, domain.ErrJobNotFound
	}
	if err != nil {
		return domain.Job{}, err
	}
	return jobs[0], nil
}

// openJobsPerRound is how many open jobs OpenJobs returns at most.
const openJobsPerRound = 500

// OpenJobs lists jobs of all companies that are not finished, the oldest first. Those
// of suspended companies wait.
func (s *Store) OpenJobs(ctx context.Context) ([]domain.Job, error) {
	return s.jobs(ctx, `JOIN companies c ON c.id = j.company_id AND c.suspended_at IS NULL
		WHERE j.finished_at IS NULL ORDER BY j.created_at, j.id LIMIT $1`, openJobsPerRound)
}

// RecentJobs returns the jobs of a company that are under way or ended after since, the
// newest first.
func (s *Store) RecentJobs(ctx context.Context, company int64, since time.Time, limit int) ([]domain.Job, error) {
	return s.jobs(ctx, `WHERE j.company_id = $1 AND j.id IN (
			SELECT o.id FROM jobs o WHERE o.company_id = $1 AND o.finished_at IS NULL
			UNION ALL SELECT f.id FROM jobs f WHERE f.company_id = $1 AND f.finished_at > $2)
		ORDER BY j.id DESC LIMIT $3`, company, since, limit)
}

func (s *Store) jobs(ctx context.Context, rest string, args ...any) ([]domain.Job, error) {
	var out []domain.Job
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var j domain.Job
		err := scanJob(r, &j)
		out = append(out, j)
		return err
	}, `SELECT `+jobColumns+` FROM jobs j `+rest, args...)
	err := s.read(ctx, b)
	return out, err
}

// JobItems returns the next records of a job, by ascending id.
func (s *Store) JobItems(ctx context.Context, j domain.Job, after int64, limit int) ([]domain.JobItem, error) {
	var out []domain.JobItem
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var item domain.JobItem
		err := r.Scan(&item.ID, &item.Outcome, &item.At)
		out = append(out, item)
		return err
	}, `SELECT i.record_id, i.outcome, i.at FROM job_items i WHERE i.company_id = $1 AND i.job_id = $2 AND i.record_id > $3
		ORDER BY i.record_id LIMIT $4`, j.CompanyID, j.ID, after, limit)
	err := s.read(ctx, b)
	return out, err
}

// jobStep is the next step of a job: the records that it works on, and the job's progress
// after it.
type jobStep struct {
	records  []int64
	progress domain.JobProgress
}

// nextStep returns the next step of a job, with up to limit records.
func (s *Store) nextStep(ctx context.Context, j domain.Job, limit int) (jobStep, error) {
	after, _ := strconv.ParseInt(j.Cursor, 10, 64) // empty at first
	items, err := s.JobItems(ctx, j, after, limit)
	out := jobStep{progress: domain.JobProgress{Cursor: j.Cursor, Done: int64(len(items)), Finished: len(items) < limit}}
	for _, item := range items {
		out.records = append(out.records, item.ID)
		out.progress.Cursor = strconv.FormatInt(item.ID, 10)
	}
	return out, err
}

// AdvanceJob saves the progress of a step. It fails with ErrJobMoved if the job is
// no longer where the step began.
func (s *Store) AdvanceJob(ctx context.Context, j domain.Job, p domain.JobProgress) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		if err := tx.Send(ctx, nil); err != nil {
			return err
		}
		b := &db.Batch{}
		if err := queueJobProgress(b, tx.Now(), j, p); err != nil {
			return err
		}
		return tx.Send(ctx, b)
	})
}

// queueJobProgress queues the saving of a step's progress, for steps that do their work
// in the same transaction.
func queueJobProgress(b *db.Batch, now time.Time, j domain.Job, p domain.JobProgress) error {
	result := string(j.Result)
	if p.Result != nil {
		encoded, err := json.Marshal(p.Result)
		if err != nil {
			return fmt.Errorf("encode the result of a job: %w", err)
		}
		result = string(encoded)
	}
	var end *time.Time
	if p.Finished {
		end = &now
	}
	b.One(domain.ErrJobMoved, `UPDATE jobs SET cursor = $4, done = done + $5, result = $6, finished_at = $7, failures = 0
		WHERE company_id = $1 AND id = $2 AND cursor = $3 AND finished_at IS NULL`, j.CompanyID, j.ID, j.Cursor, p.Cursor, p.Done, result, end)
	return nil
}

// RecordJobFailure counts a failed step. After maxFailures of them in a row it ends the
// job with the problem.
func (s *Store) RecordJobFailure(ctx context.Context, j domain.Job, problem string, maxFailures int) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		if err := tx.Send(ctx, nil); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE jobs SET failures = failures + 1,
				problem = CASE WHEN failures + 1 >= $4 THEN $3 ELSE problem END,
				finished_at = CASE WHEN failures + 1 >= $4 THEN $5 ELSE finished_at END
			WHERE company_id = $1 AND id = $2 AND finished_at IS NULL`, j.CompanyID, j.ID, problem, maxFailures, tx.Now())
		return err
	})
}

// CancelJob ends a job before its next step. What was done stays. Codes: not_found.
func (s *Store) CancelJob(ctx context.Context, c domain.Caller, id int64) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		found, open := false, false
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { found = true; return r.Scan(&open) },
			`SELECT j.finished_at IS NULL FROM jobs j WHERE j.company_id = $1 AND j.id = $2`+s.db.ForUpdate("j"), c.Company.ID, id)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		if !found {
			return domain.ErrJobNotFound
		}
		if !open {
			return nil
		}
		b = &db.Batch{}
		b.Exec(`UPDATE jobs SET finished_at = $3, canceled_at = $3 WHERE company_id = $1 AND id = $2`, c.Company.ID, id, tx.Now())
		box.audit(b, tx.Now(), domain.AuditEntry{
			CompanyID: c.Company.ID, Actor: c.Actor, Action: "job.canceled", RecordKind: "job", RecordID: strconv.FormatInt(id, 10),
		})
		tx.SendAndCommit(b)
		return nil
	})
}

// expireJobsStep is how many jobs one transaction removes; each may have thousands of
// items.
const expireJobsStep = 10

// ExpireJobs removes jobs that finished before the instant, with their items, and
// reports whether there may be more.
func (s *Store) ExpireJobs(ctx context.Context, before time.Time) (more bool, err error) {
	n, err := s.execStep(ctx, `DELETE FROM jobs WHERE (company_id, id) IN (SELECT j.company_id, j.id FROM jobs j
		WHERE j.finished_at < $1 ORDER BY j.finished_at LIMIT `+strconv.Itoa(expireJobsStep)+`)`, before)
	return n == expireJobsStep, err
}

// decodeTally returns the outcomes that a job has counted. A job that has counted
// nothing yet has none.
func decodeTally(result json.RawMessage) domain.Tally {
	tally := domain.Tally{}
	if err := json.Unmarshal(result, &tally); err != nil || tally == nil {
		return domain.Tally{}
	}
	return tally
}

// noteOutcomes queues what became of some records of a job.
func (s *Store) noteOutcomes(b *db.Batch, j domain.Job, results []domain.ActResult, now time.Time) {
	if len(results) == 0 {
		return
	}
	rows, args := s.db.ValuesTable(4, db.Columns(results,
		db.IntColumn("key_id", func(r *domain.ActResult) int64 { return r.ID }),
		db.TextColumn("new_outcome", func(r *domain.ActResult) string { return r.Outcome }))...)
	b.Exec(`UPDATE job_items SET outcome = r.new_outcome, at = $3 FROM `+rows+` r
		WHERE job_items.company_id = $1 AND job_items.job_id = $2 AND job_items.record_id = r.key_id`,
		append([]any{j.CompanyID, j.ID, now}, args...)...)
}
