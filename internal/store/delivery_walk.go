package store

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// The log is read by walks: each takes an index from the newest entry on until
// the page is full, and passes over no row that the filter leaves out but for
// its kind or its endpoint. deliveries_endpoint_log is by endpoint and state,
// deliveries_unfinished by state, deliveries_log by kind; where several states
// or kinds are asked for, the walks are merged.

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
	var out []string
	state, known := inState[f.State]
	switch {
	case f.State != "" && !known:
		return []string{`1 = 0`}
	case f.Failing:
		failing := []string{inState[domain.DeliveryFailed], inState[domain.DeliveryPending] + ` AND d.attempts > d.round_start`}
		if f.State == "" {
			return failing
		}
		for _, w := range failing {
			out = append(out, w+` AND `+state)
		}
		return out
	case f.State != "" && (f.EndpointID != 0 || f.Kind != "" || f.State != domain.DeliveryDelivered || f.Search != ""):
		return []string{state}
	case f.Search != "", f.Kind != "":
		return []string{`1 = 1`}
	case f.EndpointID != 0:
		for _, s := range []domain.DeliveryState{domain.DeliveryPending, domain.DeliveryFailed, domain.DeliveryHeld, domain.DeliveryDelivered} {
			out = append(out, inState[s])
		}
		return out
	}
	for _, k := range domain.EventKinds {
		w := `d.kind = '` + string(k) + `'`
		if f.State != "" {
			w += ` AND ` + state
		}
		out = append(out, w)
	}
	return out
}

// logSQL reads a page of the log. The last argument of c is how many rows.
func logSQL(c *conditions, f domain.DeliveryFilter) string {
	const newest = ` ORDER BY %s.created_at DESC, %[1]s.id DESC LIMIT $%d`
	var walks []string
	for _, w := range logWalks(f) {
		walks = append(walks, `SELECT * FROM (SELECT d.id, d.created_at FROM deliveries d`+c.where()+` AND `+w+
			fmt.Sprintf(newest, "d", len(c.args))+`) p`)
	}
	return `SELECT ` + deliveryColumns + ` FROM (SELECT * FROM (` + strings.Join(walks, ` UNION ALL `) + `) q` +
		fmt.Sprintf(newest, "q", len(c.args)) + `) w
		JOIN deliveries d ON d.company_id = $1 AND d.id = w.id` + deliveryJoins + fmt.Sprintf(newest, "d", len(c.args))
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
