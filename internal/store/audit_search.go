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
// argument. With keys it selects only the entries whose column has one of these
// values: they are one argument, so that the statement's text does not depend on
// their number and is prepared once.
type auditScan struct {
	text   string
	args   []any
	column string // an expression over the entry e
	keys   []string
}

// aboutRecords returns a scan for the entries about some records of one kind.
func aboutRecords(kind string, ids []string) auditScan {
	return auditScan{text: `e.record_kind = ?`, args: []any{kind}, column: `e.record_id`, keys: ids}
}

// addAnyOf adds the condition that at least one of the scans selects an entry.
func (s *Store) addAnyOf(c *conditions, scans []auditScan) {
	texts, args := make([]string, len(scans)), []any{}
	for i, scan := range scans {
		texts[i], args = `(`+scan.text+`)`, append(args, scan.args...)
		if scan.keys != nil {
			table, values := s.db.ValuesTable(1, db.Texts("value", scan.keys))
			texts[i] += ` AND ` + scan.column + ` IN (SELECT k.value FROM ` + strings.Replace(table, "$1", "?", 1) + ` k)`
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
// and time, audit_entries_request_id by folded request id and time. So a scan names one value for each of the leading columns; which
// actions there are is read first. capped means that the search names more than it
// looks for.
func (s *Store) auditScans(ctx context.Context, c db.Conn, company int64, f domain.AuditFilter) (scans []auditScan, capped bool, err error) {
	switch {
	case f.Search != "":
		found, err := s.findAuditMatches(ctx, c, company, f.Search)
		if err != nil {
			return nil, false, err
		}
		scans, err = found.scansOfAction(ctx, c, company, f.Action)
		return scans, found.capped, err
	case f.Action == "" && f.Actor == "":
		return []auditScan{{text: `1 = 1`}}, false, nil
	}
	actions, err := auditActions(ctx, c, f.Action, auditScan{text: `e.company_id = ?`, args: []any{company}})
	if err != nil {
		return nil, false, err
	}
	kinds := actorKinds
	if f.Actor != "" {
		kinds = []domain.ActorKind{f.Actor}
	}
	for _, action := range actions {
		for _, kind := range kinds {
			scans = append(scans, auditScan{text: `e.action = ? AND e.actor_kind = ?`, args: []any{action, string(kind)}})
		}
	}
	return scans, false, nil
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
	err := c.Send(ctx, b)
	return out, err
}

// auditMatches is what the text of a search can mean in the log.
type auditMatches struct {
	text                   string
	employees, assignments []string // record ids
	deliveries             []string // record ids
	requests               []string // folded request ids
	requestColumn          string   // the folded request id of an entry e
	people, tokens         []int64  // ids of actors, which are records too
	capped                 bool     // the text names more than are looked for
}

// A search finds at most this many assignments, and this many actors of one kind.
const (
	maxFoundRecords = 500
	maxFoundActors  = 20
)

// findAuditMatches finds what a text names by its beginning, whatever the case: an
// employee by name, address or externalId, an assignment by its externalId or its
// employee, an administrator by name or address, a token by its name, a request and a
// delivery by its id. An erased employee is not found.
func (s *Store) findAuditMatches(ctx context.Context, c db.Conn, company int64, text string) (*auditMatches, error) {
	text = domain.CleanSearch(text)
	out := &auditMatches{text: text, requestColumn: s.db.Folded("e.request_id")}
	b := &db.Batch{}
	s.queueLoggedIDs(b, out, company)
	people, byPerson := s.employeesFound(company, text, maxSearched)
	queueIDs(b, &out.employees, people, byPerson)
	assignments, byAssignment := s.assignmentsFound(company, text, maxSearched)
	queueIDs(b, &out.assignments, `SELECT f.id FROM (`+assignments+`) f UNION SELECT a.id FROM assignments a WHERE a.company_id = ? AND a.employee_id IN (`+people+`)`,
		append(append(byAssignment, company), byPerson...))
	tokens := &conditions{}
	tokens.add(`t.company_id = ? AND `+prefixRange("t.name_folded"), append([]any{company}, prefixArgs(domain.FoldName(text))...)...)
	queueNumbers(b, &out.tokens, `SELECT t.id FROM tokens t`+tokens.where()+` ORDER BY t.company_id, t.name_folded`, tokens.args)
	former := &conditions{}
	former.add(prefixRange(s.db.Folded("f.email_folded")), prefixArgs(domain.FoldEmail(text))...)
	queueNumbers(b, &out.people, `SELECT f.administrator_id FROM former_administrators f`+former.where()+` ORDER BY `+s.db.Folded("f.email_folded"), former.args)
	queueNumbers(b, &out.people, `SELECT p.id FROM administrators p WHERE p.email_folded = $1`, []any{domain.FoldEmail(text)})
	queueAdministrators(b, &out.people, company, text)
	s.queryLogCapped(b, company, text, &out.capped)
	err := c.Send(ctx, b)
	out.capped = out.capped || len(out.assignments) == maxFoundRecords || len(out.tokens) == maxFoundActors ||
		len(out.requests) == maxFoundRecords || len(out.deliveries) == maxFoundRecords
	slices.Sort(out.requests)
	out.requests = slices.Compact(out.requests)
	slices.Sort(out.people)
	out.people = slices.Compact(out.people)
	return out, err
}

// minRequestPrefix is how many characters of a request id begin a search for it. Most ids
// are random: fewer characters than these find requests that nobody means.
const minRequestPrefix = 6

// queueLoggedIDs queues queries for the request ids and the delivery ids of the log that
// begin with the text.
func (s *Store) queueLoggedIDs(b *db.Batch, out *auditMatches, company int64) {
	if out.text == "" {
		return
	}
	into := func(list *[]string) func(db.Rows) error {
		return func(r db.Rows) error {
			var id string
			err := r.Scan(&id)
			*list = append(*list, id)
			return err
		}
	}
	requests := &conditions{}
	requests.add(`e.company_id = ?`, company)
	if request := domain.FoldID(out.text); len(request) < minRequestPrefix {
		requests.add(out.requestColumn+` = ?`, request)
	} else {
		requests.add(prefixRange(out.requestColumn), prefixArgs(request)...)
	}
	b.Query(into(&out.requests), `SELECT `+out.requestColumn+` FROM audit_entries e`+requests.where()+
		` ORDER BY e.company_id DESC, `+out.requestColumn+` DESC LIMIT `+strconv.Itoa(maxFoundRecords), requests.args...)
	low, high, ok := uuidRange(out.text)
	if !ok {
		return
	}
	deliveries := &conditions{}
	deliveries.add(`e.company_id = ?`, company)
	deliveries.add(`e.record_id >= ? AND e.record_id <= ? AND e.record_kind = 'delivery'`, low, high)
	b.Query(into(&out.deliveries), `SELECT e.record_id FROM audit_entries e`+deliveries.where()+
		` ORDER BY e.company_id DESC, e.record_id DESC LIMIT `+strconv.Itoa(maxFoundRecords), deliveries.args...)
}

// queueIDs queues a query for the latest ids among those that sql finds.
func queueIDs(b *db.Batch, into *[]string, sql string, args []any) {
	where := &conditions{}
	where.add(`SELECT f.id FROM (`+sql+`) f ORDER BY f.id DESC LIMIT ?`, append(slices.Clone(args), maxFoundRecords)...)
	b.Query(func(r db.Rows) error {
		var id int64
		err := r.Scan(&id)
		*into = append(*into, strconv.FormatInt(id, 10))
		return err
	}, where.parts[0], where.args...)
}

func queueNumbers(b *db.Batch, into *[]int64, sql string, args []any) {
	args = append(args, maxFoundActors)
	b.Query(func(r db.Rows) error {
		var id int64
		err := r.Scan(&id)
		*into = append(*into, id)
		return err
	}, sql+` LIMIT $`+strconv.Itoa(len(args)), args...)
}

// queueAdministrators queues a query for the company's administrators, of whom those
// are kept that the text finds. A company has few of them.
func queueAdministrators(b *db.Batch, into *[]int64, company int64, text string) {
	b.Query(func(r db.Rows) error {
		var id int64
		var email, name string
		err := r.Scan(&id, &email, &name)
		if domain.MatchesSearch(text, email, name) && len(*into) < 2*maxFoundActors {
			*into = append(*into, id)
		}
		return err
	}, `SELECT p.id, p.email, p.name FROM company_administrators m JOIN administrators p ON p.id = m.administrator_id WHERE m.company_id = $1`, company)
}

// records returns scans for the entries about what the text names, and for those
// of a request. A record may also be named as the log shows it, such as token 7.
func (f *auditMatches) records() []auditScan {
	out := []auditScan{{text: `e.record_id = ?`, args: []any{f.text}}}
	if kind, id, ok := strings.Cut(f.text, " "); ok {
		out = append(out, auditScan{text: `e.record_id = ? AND e.record_kind = ?`, args: []any{id, strings.ToLower(kind)}})
	}
	if len(f.requests) > 0 {
		out = append(out, auditScan{text: `1 = 1`, column: f.requestColumn, keys: f.requests})
	}
	for _, found := range []struct {
		kind string
		ids  []string
	}{
		{"employee", f.employees}, {"assignment", f.assignments}, {"delivery", f.deliveries}, {"token", formatIDs(f.tokens)},
		{"administrator", formatIDs(f.people)},
	} {
		if len(found.ids) > 0 {
			out = append(out, aboutRecords(found.kind, found.ids))
		}
	}
	return out
}

func formatIDs(ids []int64) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = strconv.FormatInt(id, 10)
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
