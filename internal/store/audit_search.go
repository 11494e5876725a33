package store

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// condition is a part of a WHERE clause; each ? of it stands for one argument.
type condition struct {
	text string
	args []any
}

// addAny adds that one of the conditions holds.
func addAny(c *conditions, list []condition) {
	texts, args := make([]string, len(list)), []any{}
	for i, w := range list {
		texts[i], args = `(`+w.text+`)`, append(args, w.args...)
	}
	c.add(`(`+strings.Join(texts, ` OR `)+`)`, args...)
}

var actorKinds = []domain.ActorKind{
	domain.ActorPerson, domain.ActorToken, domain.ActorOperator, domain.ActorPlatform, domain.ActorSystem,
}

// auditScans are the conditions of the walks that a filter takes, none where
// nothing can match. audit_entries_action is by action and sort of actor,
// audit_entries_actor by actor and action, audit_entries_record by record: each
// is in order of time for one value of each column. Which actions there are is
// asked first, by leaps.
func auditScans(ctx context.Context, c db.Conn, company int64, f domain.AuditFilter) ([]condition, error) {
	switch {
	case f.Search != "":
		found, err := findAuditMatches(ctx, c, company, f.Search)
		if err != nil {
			return nil, err
		}
		return found.scans(ctx, c, company, f.Action)
	case f.Action == "" && f.Actor == "":
		return []condition{{text: `1 = 1`}}, nil
	}
	actions, err := auditActions(ctx, c, f.Action, condition{`e.company_id = ?`, []any{company}})
	if err != nil {
		return nil, err
	}
	kinds := actorKinds
	if f.Actor != "" {
		kinds = []domain.ActorKind{f.Actor}
	}
	var out []condition
	for _, action := range actions {
		for _, kind := range kinds {
			out = append(out, condition{`e.action = ? AND e.actor_kind = ?`, []any{action, string(kind)}})
		}
	}
	return out, nil
}

// auditActions gives the actions among some entries that begin with a prefix. It
// leaps from one to the next in an index, past all the entries of each.
func auditActions(ctx context.Context, c db.Conn, prefix string, among condition) ([]string, error) {
	where := &conditions{}
	where.add(among.text, among.args...)
	next := func(more string) string {
		return `(SELECT e.action FROM audit_entries e` + where.where() + more + ` ORDER BY e.action LIMIT 1)`
	}
	var out []string
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var action string
		err := r.Scan(&action)
		if strings.HasPrefix(action, prefix) {
			out = append(out, action)
		}
		return err
	}, `WITH RECURSIVE leap (action) AS (SELECT `+next("")+` UNION ALL
		SELECT `+next(" AND e.action > l.action")+` FROM leap l WHERE l.action IS NOT NULL)
		SELECT action FROM leap WHERE action IS NOT NULL`, where.args...)
	return out, c.Send(ctx, b)
}

// auditMatches is what a text can mean in the log.
type auditMatches struct {
	text                   string
	employees, assignments []string // record ids
	people, tokens         []int64  // actor ids
}

// How many records and how many tokens of one name are looked for, the latest.
const (
	maxFoundRecords = 500
	maxFoundTokens  = 20
)

// findAuditMatches finds out what a text names: an employee or assignment by its
// externalId, a person by the e-mail address, a token by its name. Whoever was
// erased has no externalId any more, and is not found.
func findAuditMatches(ctx context.Context, c db.Conn, company int64, text string) (*auditMatches, error) {
	const (
		employees = `SELECT x.id FROM employees x WHERE x.company_id = $1 AND x.external_id = $2 AND x.left_at IS NULL UNION ALL
			SELECT x.id FROM employees x WHERE x.company_id = $1 AND x.external_id = $2 AND x.left_at IS NOT NULL`
		assignments = `SELECT a.id FROM assignments a WHERE a.company_id = $1 AND a.external_id = $2 AND a.revoked_at IS NULL UNION ALL
			SELECT a.id FROM assignments a WHERE a.company_id = $1 AND a.external_id = $2 AND a.revoked_at IS NOT NULL UNION ALL
			SELECT a.id FROM assignments a WHERE a.company_id = $1 AND a.employee_id IN (` + employees + `)`
	)
	out := &auditMatches{text: text}
	b := &db.Batch{}
	numbers := func(into *[]int64, sql string, args ...any) {
		b.Query(func(r db.Rows) error {
			var id int64
			err := r.Scan(&id)
			*into = append(*into, id)
			return err
		}, sql, args...)
	}
	texts := func(into *[]string, sql string) {
		b.Query(func(r db.Rows) error {
			var id int64
			err := r.Scan(&id)
			*into = append(*into, strconv.FormatInt(id, 10))
			return err
		}, `SELECT f.id FROM (`+sql+`) f ORDER BY f.id DESC LIMIT $3`, company, text, maxFoundRecords)
	}
	texts(&out.employees, employees)
	texts(&out.assignments, assignments)
	numbers(&out.people, `SELECT p.id FROM administrators p WHERE p.email_folded = $1`, domain.FoldEmail(text))
	numbers(&out.tokens, `SELECT t.id FROM tokens t WHERE t.company_id = $1 AND t.name = $2 ORDER BY t.id DESC LIMIT $3`, company, text, maxFoundTokens)
	return out, c.Send(ctx, b)
}

// records are the entries about what the text names, and those of a request. A
// record is also named as the log shows it, such as token 7.
func (f *auditMatches) records() []condition {
	out := []condition{{`e.request_id = ?`, []any{f.text}}, {`e.record_id = ?`, []any{f.text}}}
	if kind, id, ok := strings.Cut(f.text, " "); ok {
		out = append(out, condition{`e.record_id = ? AND e.record_kind = ?`, []any{id, strings.ToLower(kind)}})
	}
	for _, list := range []struct {
		kind string
		ids  []string
	}{{"employee", f.employees}, {"assignment", f.assignments}} {
		if len(list.ids) == 0 {
			continue
		}
		args := []any{list.kind}
		for _, id := range list.ids {
			args = append(args, id)
		}
		out = append(out, condition{`e.record_kind = ? AND e.record_id IN (?` + strings.Repeat(`, ?`, len(list.ids)-1) + `)`, args})
	}
	return out
}

// actors are the entries of those whom the text names.
func (f *auditMatches) actors() []condition {
	var out []condition
	for _, id := range f.people {
		out = append(out, condition{`e.actor_kind = ? AND e.actor_id = ?`, []any{string(domain.ActorPerson), id}})
	}
	for _, id := range f.tokens {
		out = append(out, condition{`e.actor_kind = ? AND e.actor_id = ?`, []any{string(domain.ActorToken), id}})
	}
	return out
}

func (f *auditMatches) conditions() []condition { return append(f.records(), f.actors()...) }

// scans goes through what an actor did action by action: much of it may be other
// than what the filter asks for.
func (f *auditMatches) scans(ctx context.Context, c db.Conn, company int64, action string) ([]condition, error) {
	out := f.records()
	for _, actor := range f.actors() {
		among := condition{`e.company_id = ? AND ` + actor.text, append([]any{company}, actor.args...)}
		actions, err := auditActions(ctx, c, action, among)
		if err != nil {
			return nil, err
		}
		for _, a := range actions {
			out = append(out, condition{actor.text + ` AND e.action = ?`, append(slices.Clone(actor.args), a)})
		}
	}
	return out, nil
}
