package store

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// auditScan selects some entries of a log; each ? of the text stands for one
// argument. With records it selects only the entries about one of these: they are
// one argument, so that the statement's text does not depend on their number and
// is prepared once.
type auditScan struct {
	text    string
	args    []any
	records []string
}

// addAnyOf adds the condition that at least one of the scans selects an entry.
func (s *Store) addAnyOf(c *conditions, scans []auditScan) {
	texts, args := make([]string, len(scans)), []any{}
	for i, scan := range scans {
		texts[i], args = `(`+scan.text+`)`, append(args, scan.args...)
		if scan.records != nil {
			table, values := s.db.ValuesTable(1, db.Texts("record_id", scan.records))
			texts[i] += ` AND e.record_id IN (SELECT k.record_id FROM ` + strings.Replace(table, "$1", "?", 1) + ` k)`
			args = append(args, values...)
		}
	}
	c.add(`(`+strings.Join(texts, ` OR `)+`)`, args...)
}

var actorKinds = []domain.ActorKind{
	domain.ActorPerson, domain.ActorToken, domain.ActorOperator, domain.ActorPlatform, domain.ActorSystem,
}

// auditScans returns the index scans that serve a filter, none where nothing can
// match. audit_entries_action is ordered by action, kind of actor and time,
// audit_entries_actor by actor, action and time, audit_entries_record by record
// and time. So a scan names one value for each of the leading columns; which
// actions there are is read first.
func (s *Store) auditScans(ctx context.Context, c db.Conn, company int64, f domain.AuditFilter) ([]auditScan, error) {
	switch {
	case f.Search != "":
		found, err := findAuditMatches(ctx, c, company, f.Search)
		if err != nil {
			return nil, err
		}
		return found.scansOfAction(ctx, c, company, f.Action)
	case f.Action == "" && f.Actor == "":
		return []auditScan{{text: `1 = 1`}}, nil
	}
	actions, err := auditActions(ctx, c, f.Action, auditScan{text: `e.company_id = ?`, args: []any{company}})
	if err != nil {
		return nil, err
	}
	kinds := actorKinds
	if f.Actor != "" {
		kinds = []domain.ActorKind{f.Actor}
	}
	var out []auditScan
	for _, action := range actions {
		for _, kind := range kinds {
			out = append(out, auditScan{text: `e.action = ? AND e.actor_kind = ?`, args: []any{action, string(kind)}})
		}
	}
	return out, nil
}

// auditActions returns the actions among some entries that begin with a prefix. It
// skips in an index from one action to the next, past all the entries of each.
func auditActions(ctx context.Context, c db.Conn, prefix string, among auditScan) ([]string, error) {
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
	}, `WITH RECURSIVE skip (action) AS (SELECT `+next("")+` UNION ALL
		SELECT `+next(" AND e.action > l.action")+` FROM skip l WHERE l.action IS NOT NULL)
		SELECT action FROM skip WHERE action IS NOT NULL`, where.args...)
	return out, c.Send(ctx, b)
}

// auditMatches is what the text of a search can mean in the log.
type auditMatches struct {
	text                   string
	employees, assignments []string // record ids
	people, tokens         []int64  // actor ids
}

// A search finds at most this many records and tokens with one name, the latest.
const (
	maxFoundRecords = 500
	maxFoundTokens  = 20
)

// findAuditMatches finds what a text names: an employee or an assignment by its
// externalId, an administrator by the address, a token by its name. An erased
// employee has no externalId any more and is not found.
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
	numbers(&out.people, `SELECT p.id FROM administrators p WHERE p.email_folded = $1
		UNION ALL SELECT f.administrator_id FROM former_administrators f WHERE f.email_folded = $1`, domain.FoldEmail(text))
	numbers(&out.tokens, `SELECT t.id FROM tokens t WHERE t.company_id = $1 AND t.name = $2 ORDER BY t.id DESC LIMIT $3`, company, text, maxFoundTokens)
	return out, c.Send(ctx, b)
}

// records returns scans for the entries about what the text names, and for those
// of a request. A record may also be named as the log shows it, such as token 7.
func (f *auditMatches) records() []auditScan {
	out := []auditScan{{text: `e.request_id = ?`, args: []any{f.text}}, {text: `e.record_id = ?`, args: []any{f.text}}}
	if kind, id, ok := strings.Cut(f.text, " "); ok {
		out = append(out, auditScan{text: `e.record_id = ? AND e.record_kind = ?`, args: []any{id, strings.ToLower(kind)}})
	}
	if len(f.employees) > 0 {
		out = append(out, auditScan{text: `e.record_kind = ?`, args: []any{"employee"}, records: f.employees})
	}
	if len(f.assignments) > 0 {
		out = append(out, auditScan{text: `e.record_kind = ?`, args: []any{"assignment"}, records: f.assignments})
	}
	return out
}

// actors returns scans for the entries of the actors that the text names.
func (f *auditMatches) actors() []auditScan {
	var out []auditScan
	for _, id := range f.people {
		out = append(out, auditScan{text: `e.actor_kind = ? AND e.actor_id = ?`, args: []any{string(domain.ActorPerson), id}})
	}
	for _, id := range f.tokens {
		out = append(out, auditScan{text: `e.actor_kind = ? AND e.actor_id = ?`, args: []any{string(domain.ActorToken), id}})
	}
	return out
}

func (f *auditMatches) scans() []auditScan { return append(f.records(), f.actors()...) }

// scansOfAction returns scans that split an actor's entries by action, because
// most of them may have another action than the filter asks for.
func (f *auditMatches) scansOfAction(ctx context.Context, c db.Conn, company int64, action string) ([]auditScan, error) {
	out := f.records()
	for _, actor := range f.actors() {
		among := auditScan{text: `e.company_id = ? AND ` + actor.text, args: append([]any{company}, actor.args...)}
		actions, err := auditActions(ctx, c, action, among)
		if err != nil {
			return nil, err
		}
		for _, a := range actions {
			out = append(out, auditScan{text: actor.text + ` AND e.action = ?`, args: append(slices.Clone(actor.args), a)})
		}
	}
	return out, nil
}
