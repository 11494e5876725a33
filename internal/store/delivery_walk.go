package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// The log is read by walks: each takes an index from the newest entry on until
// the page is full. deliveries_endpoint_log is by endpoint and state,
// deliveries_unfinished by state and kind, deliveries_log by kind; where several
// states or kinds are asked for, the walks are merged. What else a filter asks
// for is a column of the index, so that passing over rows costs little.

// inState names a state the way the indexes' own conditions do: SQLite uses a
// partial index only where the query repeats them.
var inState = map[domain.DeliveryState]string{
	domain.DeliveryPending:   `d.state = 'pending' AND d.state <> 'delivered'`,
	domain.DeliveryFailed:    `d.state = 'failed' AND d.state <> 'pending' AND d.state <> 'delivered'`,
	domain.DeliveryHeld:      `d.state = 'held' AND d.state <> 'pending' AND d.state <> 'delivered'`,
	domain.DeliveryDelivered: `d.state = 'delivered' AND d.state <> 'pending'`,
}

// logWalks are the conditions of the walks that a filter takes.
func logWalks(f domain.DeliveryFilter) []string {
	if _, known := inState[f.State]; f.State != "" && !known {
		return []string{`1 = 0`}
	}
	switch {
	case f.State != "":
		return stateWalks(f, f.State)
	case f.EndpointID == 0 || f.Search != "":
		return kindWalks(f, `1 = 1`)
	}
	var out []string
	for _, s := range []domain.DeliveryState{domain.DeliveryPending, domain.DeliveryFailed, domain.DeliveryHeld, domain.DeliveryDelivered} {
		out = append(out, stateWalks(f, s)...)
	}
	return out
}

// stateWalks takes deliveries_endpoint_log where it can.
func stateWalks(f domain.DeliveryFilter, s domain.DeliveryState) []string {
	if f.EndpointID != 0 && s != domain.DeliveryPending {
		return []string{inState[s]}
	}
	return kindWalks(f, inState[s])
}

// kindWalks returns a walk per kind, but for a filter that names one or finds what
// it searches for by other means.
func kindWalks(f domain.DeliveryFilter, condition string) []string {
	if f.Kind != "" || f.Search != "" {
		return []string{condition}
	}
	out := make([]string, len(domain.EventKinds))
	for i, k := range domain.EventKinds {
		out[i] = condition + ` AND d.kind = '` + string(k) + `'`
	}
	return out
}

// askedFor ends the walks at once where an endpoint never asked for the kind of
// event: they would pass over all that it was sent.
func askedFor(f domain.DeliveryFilter) string {
	if f.EndpointID == 0 || !slices.Contains(domain.EventKinds, f.Kind) {
		return ""
	}
	return ` AND (SELECT count(*) FROM endpoints n WHERE n.company_id = $1 AND n.id = $2
		AND n.events || n.past_events LIKE '%"` + string(f.Kind) + `"%') > 0`
}

// logSQL reads a page of the log. Deliveries that were created at the same instant, by
// different replicas, are in the order of their ids, which may not be that of their sequence:
// the indexes of the log do not have it. The first argument of c is the company, the
// second the endpoint if there is one, the last how many rows. SQLite takes a
// cross join in the order it is written: the walks come first.
func logSQL(c *conditions, f domain.DeliveryFilter) string {
	const newest = ` ORDER BY %s.created_at DESC, %[1]s.id DESC LIMIT $%d`
	var walks []string
	for _, w := range logWalks(f) {
		walks = append(walks, `SELECT * FROM (SELECT d.id, d.created_at FROM deliveries d`+c.where()+` AND `+w+askedFor(f)+
			fmt.Sprintf(newest, "d", len(c.args))+`) p`)
	}
	return `SELECT ` + deliveryColumns + ` FROM (SELECT * FROM (` + strings.Join(walks, ` UNION ALL `) + `) q` +
		fmt.Sprintf(newest, "q", len(c.args)) + `) w
		CROSS JOIN deliveries d` + deliveryJoins + ` WHERE d.company_id = $1 AND d.id = w.id` + fmt.Sprintf(newest, "d", len(c.args))
}

// maxSearched is how many people and assignments a search of a log finds by each of
// their fields: all that was logged about each of them is read.
const maxSearched = 50

// searchDeliveries finds deliveries by the beginning of their id, and those about the
// people and assignments that the text finds. One text can be either: many systems
// number their people with UUIDs.
func (s *Store) searchDeliveries(c *conditions, company int64, text string) {
	text = domain.CleanSearch(text)
	if text == "" {
		return
	}
	const about = `SELECT y.id FROM events x JOIN deliveries y ON y.company_id = x.company_id AND y.event_id = x.id WHERE x.company_id = ? AND `
	people, byPerson := s.employeesFound(company, text, maxSearched)
	assignments, byAssignment := s.assignmentsFound(company, text, maxSearched)
	found := about + `x.external_id = ? UNION ` +
		about + `x.employee_id IN (` + people + `) UNION ` +
		about + `x.external_id IN (SELECT f.external_id FROM (` + assignments + `) f)`
	args := append([]any{company, text, company}, byPerson...)
	args = append(append(args, company), byAssignment...)
	if low, high, ok := uuidRange(text); ok {
		found += ` UNION SELECT z.id FROM deliveries z WHERE z.company_id = ? AND z.id >= ? AND z.id <= ?`
		args = append(args, company, low, high)
	}
	c.add(`d.id IN (`+found+`)`, args...)
}

// queryLogCapped queues the question whether a search of a log finds as many people or
// assignments as it looks for.
func (s *Store) queryLogCapped(b *db.Batch, company int64, text string, capped *bool) {
	if text = domain.CleanSearch(text); text == "" {
		return
	}
	parts, args := s.employeeMatches(company, text, maxSearched)
	assignments, byAssignment := s.assignmentsFound(company, text, maxSearched)
	limitedQueries{append(parts, assignments), append(args, byAssignment...), maxSearched}.queryFull(b, capped)
}

// minUUIDPrefix is how many digits of a UUID begin a search for it: fewer are the
// first digits of a point in time years long.
const minUUIDPrefix = 8

// uuidRange returns the least and the greatest UUID that begin with a text.
func uuidRange(text string) (low, high string, ok bool) {
	digits := strings.ReplaceAll(domain.FoldID(text), "-", "")
	if len(digits) < minUUIDPrefix || len(digits) > 32 || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", "", false
	}
	least, errLow := uuid.Parse(digits + strings.Repeat("0", 32-len(digits)))
	most, errHigh := uuid.Parse(digits + strings.Repeat("f", 32-len(digits)))
	return least.String(), most.String(), errLow == nil && errHigh == nil
}
