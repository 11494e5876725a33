package store

import (
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// updateProgress queues the new state of assignments that learners have moved.
func (s *Store) updateProgress(b *db.Batch, changed []domain.Assignment, now time.Time) {
	if len(changed) == 0 {
		return
	}
	rows, args := s.db.ValuesTable(2, append(assignmentKeys(changed), db.Columns(changed,
		db.TextColumn("status", func(a *domain.Assignment) domain.Status { return a.Status }),
		db.IntColumn("percent", func(a *domain.Assignment) domain.Points { return a.Percent }),
		db.OptionalIntColumn("score", func(a *domain.Assignment) *int64 { return (*int64)(a.Score) }),
		db.IntColumn("attempts", func(a *domain.Assignment) int { return a.Attempts }),
		db.IntColumn("granted", func(a *domain.Assignment) int { return a.GrantedAttempts }),
		db.OptionalTimeColumn("started_at", func(a *domain.Assignment) *time.Time { return a.StartedAt }),
		db.OptionalTimeColumn("attempt_at", func(a *domain.Assignment) *time.Time { return a.AttemptAt }),
		db.OptionalTimeColumn("ended_at", func(a *domain.Assignment) *time.Time { return a.EndedAt }),
		db.OptionalTimeColumn("completed_at", func(a *domain.Assignment) *time.Time { return a.CompletedAt }),
		db.OptionalTimeColumn("active_at", func(a *domain.Assignment) *time.Time { return a.LastActivityAt }),
		db.OptionalTimeColumn("overdue_at", func(a *domain.Assignment) *time.Time { return a.OverdueAt }))...)...)
	b.Exec(`UPDATE assignments SET status = r.status, percent = r.percent, score = r.score, attempts = r.attempts,
			granted_attempts = r.granted, started_at = r.started_at, attempt_at = r.attempt_at, ended_at = r.ended_at,
			completed_at = r.completed_at, last_activity_at = r.active_at, overdue_at = r.overdue_at, updated_at = $1
		FROM `+rows+` r WHERE assignments.company_id = r.company_id AND assignments.id = r.id`, append([]any{now}, args...)...)
}

func (s *Store) insertAttempts(b *db.Batch, attempts []attemptRow) {
	if len(attempts) == 0 {
		return
	}
	rows, args := s.db.ValuesTable(1, db.Columns(attempts,
		db.IntColumn("company_id", func(a *attemptRow) int64 { return a.company }),
		db.IntColumn("assignment_id", func(a *attemptRow) int64 { return a.assignment }),
		db.IntColumn("number", func(a *attemptRow) int { return a.number }),
		db.TimeColumn("started_at", func(a *attemptRow) time.Time { return a.startedAt }),
		db.OptionalTimeColumn("ended_at", func(a *attemptRow) *time.Time { return a.endedAt }),
		db.OptionalIntColumn("score", func(a *attemptRow) *int64 { return a.score }),
		db.OptionalIntColumn("passed", func(a *attemptRow) *int64 { return a.passed }))...)
	b.Exec(`INSERT INTO assignment_attempts (company_id, assignment_id, number, started_at, ended_at, score, passed)
		SELECT r.company_id, r.assignment_id, r.number, r.started_at, r.ended_at, r.score, r.passed = 1 FROM `+rows+` r WHERE true
		ON CONFLICT (company_id, assignment_id, number) DO UPDATE
		SET started_at = excluded.started_at, ended_at = excluded.ended_at, score = excluded.score, passed = excluded.passed`, args...)
}

func (s *Store) insertMoves(b *db.Batch, moves []statusMove) {
	if len(moves) == 0 {
		return
	}
	rows, args := s.db.ValuesTable(1, db.Columns(moves,
		db.IntColumn("company_id", func(m *statusMove) int64 { return m.a.CompanyID }),
		db.IntColumn("assignment_id", func(m *statusMove) int64 { return m.a.ID }),
		db.TimeColumn("at", func(m *statusMove) time.Time { return m.at }),
		db.TextColumn("from_status", func(m *statusMove) domain.Status { return m.from }),
		db.TextColumn("to_status", func(m *statusMove) domain.Status { return m.to }),
		db.TextColumn("cause", func(m *statusMove) string { return m.cause }))...)
	b.Exec(`INSERT INTO assignment_history (company_id, assignment_id, at, from_status, to_status, cause)
		SELECT r.company_id, r.assignment_id, r.at, r.from_status, r.to_status, r.cause FROM `+rows+` r`, args...)
}
