package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/coursebridge/coursebridge/internal/domain"
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
	if f.Failing {
		var out []string
		for _, w := range append(stateWalks(f, domain.DeliveryFailed), stateWalks(f, domain.DeliveryPending)...) {
			if f.State != "" {
				w += ` AND ` + inState[f.State]
			}
			out = append(out, w+` AND (d.state = 'failed' OR d.attempts > d.round_start)`)
		}
		return out
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

// logSQL reads a page of the log. The first argument of c is the company, the
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

// searchDeliveries finds a delivery by its id, or those about an externalId. One
// text can be either: many systems number their people with UUIDs.
func searchDeliveries(c *conditions, company int64, text string) {
	const about = `SELECT y.id FROM events x JOIN deliveries y ON y.company_id = x.company_id AND y.event_id = x.id
		WHERE x.company_id = ? AND x.external_id = ?`
	id, err := uuid.Parse(strings.TrimSpace(text))
	switch {
	case text == "":
	case err == nil:
		c.add(`d.id IN (SELECT z.id FROM deliveries z WHERE z.company_id = ? AND z.id = ? UNION ALL `+about+`)`, company, id.String(), company, text)
	default:
		c.add(`d.id IN (`+about+`)`, company, text)
	}
}
