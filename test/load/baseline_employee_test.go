package load

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

func baselinePool(database string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(database)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = connections
	return pgxpool.NewWithConfig(context.Background(), cfg)
}

type baselineEmployee struct {
	ID         int64                `json:"id"`
	ExternalID string               `json:"externalId"`
	Email      string               `json:"email"`
	Name       string               `json:"name"`
	Role       string               `json:"role"`
	Tags       json.RawMessage      `json:"tags"`
	JoinedAt   time.Time            `json:"joinedAt"`
	Tasks      []baselineAssignment `json:"assignments"`
}

type baselineAssignment struct {
	ID             int64      `json:"id"`
	ExternalID     string     `json:"externalId"`
	Employee       string     `json:"employeeExternalId"`
	Email          string     `json:"employeeEmail"`
	CourseID       int64      `json:"courseId"`
	CourseName     string     `json:"courseName"`
	Status         string     `json:"status"`
	StatusCategory string     `json:"statusCategory"`
	IsOverdue      bool       `json:"isOverdue"`
	Percent        float64    `json:"completionPercent"`
	Score          *float64   `json:"score"`
	Attempts       int        `json:"numberOfAttempts"`
	IsRequired     bool       `json:"isRequired"`
	AssignedAt     time.Time  `json:"assignedAt"`
	Deadline       time.Time  `json:"deadline"`
	StartedAt      *time.Time `json:"startedAt"`
	CompletedAt    *time.Time `json:"completedAt"`
	LastActivityAt time.Time  `json:"lastActivityAt"`
}

type baselineAnswer struct {
	Result string `json:"result"`
	Data   any    `json:"data"`
}

// baselineRow selects an employee's row by key, without assignments.
func baselineRow(database string) (http.Handler, error) {
	pool, err := baselinePool(database)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := baselineEmployee{Tasks: []baselineAssignment{}}
		var tags string
		err := pool.QueryRow(r.Context(), `SELECT id, external_id, email, name, role, tags, joined_at FROM employees
			WHERE company_id = $1 AND external_id = $2 AND left_at IS NULL`, int64(1), strings.TrimPrefix(r.URL.Path, employeePath)).
			Scan(&e.ID, &e.ExternalID, &e.Email, &e.Name, &e.Role, &tags, &e.JoinedAt)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		e.Tags = json.RawMessage(tags)
		respond(w, e)
	}), nil
}

const wholeSQL = `SELECT e.id, e.external_id, e.email, e.name, e.role, e.tags, e.joined_at, a.id, a.external_id, a.course_id, c.name,
		a.status, a.percent, a.attempts, a.is_required, a.assigned_at, a.deadline, a.started_at, a.completed_at
	FROM employees e JOIN assignments a ON a.company_id = e.company_id AND a.employee_id = e.id AND a.revoked_at IS NULL
	JOIN courses c ON c.id = a.course_id
	WHERE e.company_id = $1 AND e.external_id = $2 AND e.left_at IS NULL ORDER BY a.id`

// baselineWhole selects an employee with assignments, everything that the answer
// contains, in one statement.
func baselineWhole(database string) (http.Handler, error) {
	pool, err := baselinePool(database)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rows, err := pool.Query(r.Context(), wholeSQL, int64(1), strings.TrimPrefix(r.URL.Path, employeePath))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer rows.Close()
		var e baselineEmployee
		for rows.Next() {
			var t baselineAssignment
			var tags string
			if err := rows.Scan(&e.ID, &e.ExternalID, &e.Email, &e.Name, &e.Role, &tags, &e.JoinedAt, &t.ID, &t.ExternalID, &t.CourseID, &t.CourseName,
				&t.Status, &t.Percent, &t.Attempts, &t.IsRequired, &t.AssignedAt, &t.Deadline, &t.StartedAt, &t.CompletedAt); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			e.Tags, t.Employee, t.Email, t.StatusCategory, t.LastActivityAt = json.RawMessage(tags), e.ExternalID, e.Email, "not_started", t.AssignedAt
			e.Tasks = append(e.Tasks, t)
		}
		if rows.Err() != nil {
			http.Error(w, rows.Err().Error(), http.StatusInternalServerError)
			return
		}
		respond(w, e)
	}), nil
}

func respond(w http.ResponseWriter, data any) {
	body, err := json.Marshal(baselineAnswer{"success", data})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(body)
}

const provisionSQL = `WITH account AS (
		INSERT INTO accounts (email_folded, created_at) VALUES ($1, $2)
	), employee AS (
		INSERT INTO employees (company_id, id, external_id, email, email_folded, name, role, tags, joined_at, updated_at)
		VALUES (1, nextval('employee_ids'), $3, $4, $1, $5, 'employee', '[]', $2, $2) RETURNING id
	), event AS (
		INSERT INTO events (company_id, id, kind, occurred_at, employee_id, assignment_id, external_id, body)
		SELECT 1, nextval('event_ids'), 'employee.joined', $2, id, 0, $3, $6 FROM employee
	), audit AS (
		INSERT INTO audit_entries (company_id, at, actor_kind, actor_id, actor_label, action, record_kind, record_id,
			employee_id, request_id, address, detail)
		SELECT 1, $2, 'token', 1, 'load', 'employee.provisioned', 'employee', id::text, id, 'request', '127.0.0.1', '' FROM employee
	) SELECT id FROM employee`

// baselineProvision inserts all rows of a new employee in one statement.
func baselineProvision(database string) (http.Handler, error) {
	pool, err := baselinePool(database)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var e baselineEmployee
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		now := time.Now()
		e.Role, e.Tags, e.JoinedAt = "employee", json.RawMessage("[]"), now
		told, err := json.Marshal(map[string]any{"event": "employee.joined", "companyId": 1, "occurredAt": now, "data": e})
		if err == nil {
			err = pool.QueryRow(r.Context(), provisionSQL, strings.ToLower(e.Email), now, e.ExternalID, e.Email, e.Name, told).Scan(&e.ID)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		respond(w, map[string]any{"id": e.ID, "externalId": e.ExternalID, "email": e.Email, "status": "created"})
	}), nil
}
