package store

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

const employeesByEmail = `SELECT ` + employeeColumns + ` FROM employees e WHERE e.email_folded = $1`

// Person returns all that is kept about an address, over all companies. Codes:
// not_found.
func (s *Store) Person(ctx context.Context, email string) (domain.Person, error) {
	out := domain.Person{
		Email: email, Employments: []domain.Employment{}, Log: []domain.PersonLogEntry{}, Mentions: []domain.PersonMention{},
	}
	err := s.db.Snapshot(ctx, func(c db.Conn) error {
		if err := readAccount(ctx, c, email, &out); err != nil {
			return err
		}
		if err := readEmployments(ctx, c, email, &out); err != nil {
			return err
		}
		if err := readPersonAsAdministrator(ctx, c, email, &out); err != nil {
			return err
		}
		var err error
		out.Mentions, err = readMentions(ctx, c, email)
		return err
	})
	nothing := out.Account == nil && out.Administrator == nil && len(out.Employments)+len(out.Log)+len(out.Mentions) == 0
	if err == nil && nothing {
		err = domain.ErrPersonNotFound
	}
	return out, mapUnavailable(err)
}

func readAccount(ctx context.Context, c db.Conn, email string, out *domain.Person) error {
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		out.Account = &domain.PersonAccount{}
		return r.Scan(&out.Account.CreatedAt)
	}, `SELECT created_at FROM accounts WHERE email_folded = $1`, domain.FoldEmail(email))
	return c.Send(ctx, b)
}

func readEmployments(ctx context.Context, c db.Conn, email string, out *domain.Person) error {
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var e domain.Employee
		err := scanEmployee(r, &e)
		out.Employments = append(out.Employments, domain.Employment{
			CompanyID: e.CompanyID, ID: e.ID, ExternalID: e.ExternalID, Email: e.Email, Name: e.Name, Role: e.Role, Tags: e.Tags, Attributes: domain.Attributes{},
			JoinedAt: e.JoinedAt, LeftAt: e.LeftAt, Assignments: []domain.PersonAssignment{}, Events: []domain.PersonEvent{},
		})
		return err
	}, employeesByEmail+` ORDER BY e.company_id, e.id`, domain.FoldEmail(email))
	if err := c.Send(ctx, b); err != nil {
		return err
	}
	b = &db.Batch{}
	for i := range out.Employments {
		e := &out.Employments[i]
		b.Query(func(r db.Rows) error {
			var a domain.Assignment
			if err := scanAssignment(r, &a); err != nil {
				return err
			}
			e.Assignments = append(e.Assignments, personAssignment(a))
			return nil
		}, `SELECT `+assignmentColumns+assignmentFrom+` WHERE a.company_id = $1 AND a.employee_id = $2 ORDER BY a.id`, e.CompanyID, e.ID)
		queueAttributes(b, e.CompanyID, e.ID, &e.Attributes)
		queryPersonEvents(b, e)
		b.Query(personLog(out), personLogSQL+` WHERE company_id = $1 AND employee_id = $2 ORDER BY id`, e.CompanyID, e.ID)
	}
	return c.Send(ctx, b)
}

// queryPersonEvents queues the reading of an employee's events and of the attempts
// to send them.
func queryPersonEvents(b *db.Batch, e *domain.Employment) {
	position := map[int64]int{}
	b.Query(func(r db.Rows) error {
		var id int64
		var body []byte
		v := domain.PersonEvent{Attempts: []domain.PersonAttempt{}}
		err := r.Scan(&id, &v.Kind, &v.OccurredAt, &body)
		if len(body) > 0 { // the body of an erased event is empty
			v.Body = body
		}
		position[id] = len(e.Events)
		e.Events = append(e.Events, v)
		return err
	}, `SELECT id, kind, occurred_at, body FROM events WHERE company_id = $1 AND employee_id = $2 ORDER BY id`, e.CompanyID, e.ID)
	b.Query(func(r db.Rows) error {
		var id int64
		var body []byte
		var a domain.PersonAttempt
		err := r.Scan(&id, &a.DeliveryID, &a.Number, &a.URL, &a.StartedAt, &a.StatusCode, &body)
		a.ResponseBody = string(body)
		if i, ok := position[id]; ok {
			e.Events[i].Attempts = append(e.Events[i].Attempts, a)
		}
		return err
	}, `SELECT v.id, CAST(d.id AS text), t.number, t.url, t.started_at, t.status_code, t.response_body
		FROM events v
		JOIN deliveries d ON d.company_id = v.company_id AND d.event_id = v.id
		JOIN delivery_attempts t ON t.company_id = d.company_id AND t.delivery_id = d.id
		WHERE v.company_id = $1 AND v.employee_id = $2 ORDER BY v.id, t.started_at, t.number`, e.CompanyID, e.ID)
}

func personAssignment(a domain.Assignment) domain.PersonAssignment {
	out := domain.PersonAssignment{
		ID: a.ID, ExternalID: a.ExternalID, CourseName: a.CourseName, Status: a.Status, Attempts: a.Attempts,
		AssignedAt: a.AssignedAt, StartedAt: a.StartedAt, CompletedAt: a.CompletedAt, RevokedAt: a.RevokedAt,
	}
	if a.Score != nil {
		score := a.Score.Float()
		out.Score = &score
	}
	return out
}

const personLogSQL = `SELECT company_id, at, action, address, detail FROM audit_entries`

func personLog(out *domain.Person) func(db.Rows) error {
	return func(r db.Rows) error {
		var e domain.PersonLogEntry
		err := r.Scan(&e.CompanyID, &e.At, &e.Action, &e.Address, &e.Detail)
		out.Log = append(out.Log, e)
		return err
	}
}

func readPersonAsAdministrator(ctx context.Context, c db.Conn, email string, out *domain.Person) error {
	var who administratorRow
	var ids []int64
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return who.scan(r) },
		`SELECT `+administratorColumns+` FROM administrators a WHERE a.email_folded = $1`, domain.FoldEmail(email))
	b.Query(appendColumn(&ids), `SELECT administrator_id FROM former_administrators WHERE email_folded = $1`, domain.FoldEmail(email))
	if err := c.Send(ctx, b); err != nil {
		return err
	}
	b = &db.Batch{}
	if who.ID != 0 {
		ids = append(ids, who.ID)
		a := &domain.PersonAdministrator{
			ID: who.ID, Name: who.Name, CreatedAt: who.CreatedAt, LastSignInAt: who.LastSignInAt, SecondFactor: who.HasSecondFactor,
			CompanyIDs: []int64{}, Sessions: []domain.PersonSession{},
		}
		out.Administrator = a
		b.Query(appendColumn(&a.CompanyIDs), `SELECT company_id FROM company_administrators WHERE administrator_id = $1 ORDER BY company_id`, who.ID)
		b.Query(func(r db.Rows) error {
			var x domain.PersonSession
			err := r.Scan(&x.CreatedAt, &x.SeenAt, &x.Address, &x.UserAgent)
			a.Sessions = append(a.Sessions, x)
			return err
		}, `SELECT created_at, seen_at, address, user_agent FROM sessions WHERE administrator_id = $1 ORDER BY id`, who.ID)
	}
	for _, id := range ids {
		b.Query(personLog(out), personLogSQL+` WHERE company_id IN (SELECT c.id FROM companies c)
			AND actor_kind = 'person' AND actor_id = $1 ORDER BY id`, id)
	}
	return c.Send(ctx, b)
}
