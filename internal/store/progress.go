package store

import (
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// updateProgress writes what learners moved.
func (s *Store) updateProgress(b *db.Batch, changed []domain.Assignment, now time.Time) {
	n := len(changed)
	if n == 0 {
		return
	}
	companies, ids, percents, attempts, granted := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	statuses, scores := make([]string, n), make([]*int64, n)
	started, begun, ended := make([]*time.Time, n), make([]*time.Time, n), make([]*time.Time, n)
	completed, active := make([]*time.Time, n), make([]*time.Time, n)
	for i, a := range changed {
		companies[i], ids[i], percents[i], attempts[i], granted[i] = a.CompanyID, a.ID, int64(a.Percent), int64(a.Attempts), int64(a.GrantedAttempts)
		statuses[i], scores[i] = string(a.Status), (*int64)(a.Score)
		started[i], begun[i], ended[i], completed[i], active[i] = a.StartedAt, a.AttemptAt, a.EndedAt, a.CompletedAt, a.LastActivityAt
	}
	rows, args := s.db.ValuesTable(2,
		db.Column{Name: "company_id", Type: db.Int, Values: companies}, db.Column{Name: "id", Type: db.Int, Values: ids},
		db.Column{Name: "status", Type: db.Text, Values: statuses}, db.Column{Name: "percent", Type: db.Int, Values: percents},
		db.Column{Name: "score", Type: db.Int, Values: scores}, db.Column{Name: "attempts", Type: db.Int, Values: attempts},
		db.Column{Name: "granted", Type: db.Int, Values: granted}, db.Column{Name: "started_at", Type: db.Time, Values: started},
		db.Column{Name: "attempt_at", Type: db.Time, Values: begun}, db.Column{Name: "ended_at", Type: db.Time, Values: ended},
		db.Column{Name: "completed_at", Type: db.Time, Values: completed}, db.Column{Name: "active_at", Type: db.Time, Values: active})
	b.Exec(`UPDATE assignments SET status = r.status, percent = r.percent, score = r.score, attempts = r.attempts,
			granted_attempts = r.granted, started_at = r.started_at, attempt_at = r.attempt_at, ended_at = r.ended_at,
			completed_at = r.completed_at, last_activity_at = r.active_at, updated_at = $1
		FROM `+rows+` r WHERE assignments.company_id = r.company_id AND assignments.id = r.id`, append([]any{now}, args...)...)
}

func (s *Store) insertAttempts(b *db.Batch, attempts []attemptRow) {
	n := len(attempts)
	if n == 0 {
		return
	}
	companies, assignments, numbers := make([]int64, n), make([]int64, n), make([]int64, n)
	started, ended := make([]time.Time, n), make([]*time.Time, n)
	scores, passed := make([]*int64, n), make([]*int64, n)
	for i, a := range attempts {
		companies[i], assignments[i], numbers[i] = a.company, a.assignment, int64(a.number)
		started[i], ended[i], scores[i], passed[i] = a.startedAt, a.endedAt, a.score, a.passed
	}
	rows, args := s.db.ValuesTable(1,
		db.Column{Name: "company_id", Type: db.Int, Values: companies}, db.Column{Name: "assignment_id", Type: db.Int, Values: assignments},
		db.Column{Name: "number", Type: db.Int, Values: numbers}, db.Column{Name: "started_at", Type: db.Time, Values: started},
		db.Column{Name: "ended_at", Type: db.Time, Values: ended}, db.Column{Name: "score", Type: db.Int, Values: scores},
		db.Column{Name: "passed", Type: db.Int, Values: passed})
	b.Exec(`INSERT INTO assignment_attempts (company_id, assignment_id, number, started_at, ended_at, score, passed)
		SELECT r.company_id, r.assignment_id, r.number, r.started_at, r.ended_at, r.score, r.passed = 1 FROM `+rows+` r WHERE true
		ON CONFLICT (company_id, assignment_id, number) DO UPDATE
		SET started_at = excluded.started_at, ended_at = excluded.ended_at, score = excluded.score, passed = excluded.passed`, args...)
}

func (s *Store) insertMoves(b *db.Batch, moves []moveRow, now time.Time) {
	n := len(moves)
	if n == 0 {
		return
	}
	companies, assignments := make([]int64, n), make([]int64, n)
	from, to, causes := make([]string, n), make([]string, n), make([]string, n)
	for i, m := range moves {
		companies[i], assignments[i] = m.a.CompanyID, m.a.ID
		from[i], to[i], causes[i] = string(m.from), string(m.to), m.cause
	}
	rows, args := s.db.ValuesTable(2,
		db.Column{Name: "company_id", Type: db.Int, Values: companies}, db.Column{Name: "assignment_id", Type: db.Int, Values: assignments},
		db.Column{Name: "from_status", Type: db.Text, Values: from}, db.Column{Name: "to_status", Type: db.Text, Values: to},
		db.Column{Name: "cause", Type: db.Text, Values: causes})
	b.Exec(`INSERT INTO assignment_history (company_id, assignment_id, at, from_status, to_status, cause)
		SELECT r.company_id, r.assignment_id, $1, r.from_status, r.to_status, r.cause FROM `+rows+` r`, append([]any{now}, args...)...)
}
