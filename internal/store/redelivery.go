package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// requeue sets the columns of a delivery that is sent again: it gets a new round of
// attempts, due at $1 and requested by $2.
const requeue = `state = 'pending', due_at = $1, round_start = attempts, finished_at = NULL, requested_by = $2`

// Redeliver puts one delivery back into the queue. Codes: not_found,
// invalid_request when its endpoint takes none or its content is gone.
func (s *Store) Redeliver(ctx context.Context, c domain.Caller, id string) error {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return domain.ErrDeliveryNotFound
	}
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		var key domain.EndpointKey
		found, erased, takes, test := false, false, false, false
		b := &db.Batch{}
		if suffix := s.db.ForUpdate("d"); suffix != "" {
			// A later statement reads what has changed while this one waited. This one
			// would read the event and the endpoint as they were before.
			b.Query(ignoreRow, `SELECT d.id FROM deliveries d WHERE d.company_id = $1 AND d.id = $2`+suffix, c.Company.ID, parsed.String())
		}
		b.Query(func(r db.Rows) error {
			found = true
			return r.Scan(&key.CompanyID, &key.ID, &erased, &takes, &test)
		}, `SELECT d.company_id, d.endpoint_id, v.erased_at IS NOT NULL, e.disabled_at IS NULL AND e.removed_at IS NULL, d.is_test`+
			deliveryTables+` WHERE d.company_id = $1 AND d.id = $2`, c.Company.ID, parsed.String())
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		switch {
		case !found:
			return domain.ErrDeliveryNotFound
		case test:
			return domain.ErrDeliveryTest
		case erased:
			return domain.ErrDeliveryErased
		case !takes:
			return domain.ErrEndpointDisabled
		}
		b = &db.Batch{}
		b.One(domain.ErrDeliveryNotFound, `UPDATE deliveries SET `+requeue+` WHERE company_id = $3 AND id = $4`,
			tx.Now(), c.Actor.Ref(), c.Company.ID, parsed.String())
		box.audit(b, tx.Now(), domain.AuditEntry{
			CompanyID: c.Company.ID, Actor: c.Actor, Action: "delivery.redelivered", RecordKind: "delivery", RecordID: parsed.String(),
		})
		box.due = []domain.EndpointKey{key}
		return tx.Send(ctx, b)
	})
}

// addRedeliverable adds the conditions of deliveries in one state that the filter asks
// for and whose endpoint takes deliveries. The caller also has to leave out those whose
// event has no body any more, and test events.
func addRedeliverable(c *conditions, company int64, f domain.RedeliveryFilter, state domain.DeliveryState) {
	c.add("d.company_id = ?", company)
	c.add(inState[state])
	c.add("d.created_at >= ?", *f.From)
	c.add("d.created_at <= ?", *f.To)
	if f.Kind != "" {
		c.add("d.kind = ?", string(f.Kind))
	}
	if f.EndpointID != 0 {
		c.add("d.endpoint_id = ?", f.EndpointID)
	}
	c.add(`d.endpoint_id IN (SELECT e.id FROM endpoints e WHERE e.company_id = ? AND e.disabled_at IS NULL AND e.removed_at IS NULL)`, company)
}

// CountRedeliverable returns how many deliveries a redelivery would send.
func (s *Store) CountRedeliverable(ctx context.Context, company int64, f domain.RedeliveryFilter) (int64, error) {
	var total int64
	b := &db.Batch{}
	countRedeliverable(b, company, f, &total)
	err := s.read(ctx, b)
	return total, err
}

// countRedeliverable counts within the index deliveries_unfinished alone. Then it
// subtracts what was erased and the test events, which are few: looking up the event of
// each delivery would take many times as long.
func countRedeliverable(b *db.Batch, company int64, f domain.RedeliveryFilter, total *int64) {
	*total = 0
	count := func(sign int64, sql string, args []any) {
		b.Query(func(r db.Rows) error {
			var n int64
			err := r.Scan(&n)
			*total += sign * n
			return err
		}, sql, args...)
	}
	for _, state := range f.States {
		c := &conditions{}
		addRedeliverable(c, company, f, state)
		count(1, `SELECT count(*) FROM deliveries d`+c.where(), c.args)
		count(-1, `SELECT count(*) FROM events v CROSS JOIN deliveries d`+c.where()+
			` AND v.company_id = $1 AND v.erased_at IS NOT NULL AND d.event_id = v.id`, c.args)
		count(-1, `SELECT count(*) FROM deliveries d`+c.where()+` AND d.is_test`, c.args)
	}
}

// AddRedelivery asks for a period's deliveries to be sent again by ContinueRedelivery.
func (s *Store) AddRedelivery(ctx context.Context, c domain.Caller, f domain.RedeliveryFilter) (domain.Redelivery, error) {
	out := domain.Redelivery{CompanyID: c.Company.ID, Filter: f, RequestedBy: c.Actor.Label}
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		b := &db.Batch{}
		countRedeliverable(b, c.Company.ID, f, &out.Total)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		out.CreatedAt = tx.Now()
		b = &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&out.ID) },
			`INSERT INTO redeliveries (company_id, endpoint_id, states, kind, from_at, to_at, total, done, cursor, requested_by, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, 0, '', $8, $9) RETURNING id`,
			c.Company.ID, f.EndpointID, encodeList(f.States), string(f.Kind), *f.From, *f.To, out.Total, c.Actor.Ref(), tx.Now())
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		b = &db.Batch{}
		box.audit(b, tx.Now(), domain.AuditEntry{
			CompanyID: c.Company.ID, Actor: c.Actor, Action: "delivery.range_redelivered", RecordKind: "redelivery",
			RecordID: strconv.FormatInt(out.ID, 10), Detail: fmt.Sprintf("%d deliveries", out.Total),
		})
		tx.SendAndCommit(b)
		return nil
	})
	return out, err
}

var redeliveryColumns = `company_id, id, endpoint_id, states, kind, from_at, to_at, total, done, ` + actorLabelSQL("requested_by") + `, created_at, finished_at, problem`

func scanRedelivery(r db.Rows, j *domain.Redelivery, more ...any) error {
	var states, kind string
	var from, to time.Time
	err := r.Scan(append([]any{
		&j.CompanyID, &j.ID, &j.Filter.EndpointID, &states, &kind, &from, &to, &j.Total, &j.Done, &j.RequestedBy,
		&j.CreatedAt, &j.FinishedAt, &j.Problem,
	}, more...)...)
	if err != nil {
		return err
	}
	j.Filter.Kind, j.Filter.From, j.Filter.To = domain.EventKind(kind), &from, &to
	j.Filter.States, err = decodeList[domain.DeliveryState](states)
	return err
}

// Redelivery returns one redelivery with its progress. Codes: not_found.
func (s *Store) Redelivery(ctx context.Context, company, id int64) (domain.Redelivery, error) {
	var j domain.Redelivery
	found := false
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { found = true; return scanRedelivery(r, &j) },
		`SELECT `+redeliveryColumns+` FROM redeliveries WHERE company_id = $1 AND id = $2`, company, id)
	if err := s.read(ctx, b); err != nil {
		return j, err
	}
	if !found {
		return j, domain.ErrRedeliveryNotFound
	}
	return j, nil
}

// OpenRedeliveries lists what is not finished, oldest first.
func (s *Store) OpenRedeliveries(ctx context.Context) ([]domain.Redelivery, error) {
	var out []domain.Redelivery
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var j domain.Redelivery
		err := scanRedelivery(r, &j)
		out = append(out, j)
		return err
	}, `SELECT `+redeliveryColumns+` FROM redeliveries WHERE finished_at IS NULL ORDER BY created_at, id`)
	err := s.read(ctx, b)
	return out, err
}

// ContinueRedelivery puts the next deliveries of a redelivery back into the
// queue, up to limit, and reports whether that was the last of them. Where it has
// come to is written with them, so that it goes on there after a crash.
func (s *Store) ContinueRedelivery(ctx context.Context, company, id int64, limit int) (finished bool, err error) {
	err = s.write(ctx, func(tx db.Tx, box *outbox) error {
		var j domain.Redelivery
		var cursor, requestedBy string // a reference, which the deliveries get too
		found := false
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { found = true; return scanRedelivery(r, &j, &cursor, &requestedBy) },
			`SELECT `+redeliveryColumns+`, cursor, requested_by FROM redeliveries r WHERE company_id = $1 AND id = $2`+s.db.ForUpdate("r"), company, id)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		if finished = !found || j.FinishedAt != nil; finished {
			return nil
		}
		j.RequestedBy = requestedBy
		picked, err := s.pickRedeliverable(ctx, tx, j, cursor, limit)
		if err != nil {
			return err
		}
		finished = picked.last
		return s.requeuePicked(ctx, tx, box, j, picked)
	})
	return finished, err
}

// RecordRedeliveryFailure counts a failed step. After maxFailures of them in a row it ends
// the redelivery with the problem.
func (s *Store) RecordRedeliveryFailure(ctx context.Context, j domain.Redelivery, problem string, maxFailures int) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		if err := tx.Send(ctx, nil); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE redeliveries SET failures = failures + 1,
				problem = CASE WHEN failures + 1 >= $4 THEN $3 ELSE problem END,
				finished_at = CASE WHEN failures + 1 >= $4 THEN $5 ELSE finished_at END
			WHERE company_id = $1 AND id = $2 AND finished_at IS NULL`, j.CompanyID, j.ID, problem, maxFailures, tx.Now())
		return err
	})
}

// picked are the deliveries of one step.
type picked struct {
	ids    []string
	keys   []domain.EndpointKey
	cursor string
	last   bool // no more deliveries follow
}

// pickRedeliverable reads the step's deliveries in order, each state and kind by
// its own walk of an index.
func (s *Store) pickRedeliverable(ctx context.Context, tx db.Tx, j domain.Redelivery, cursor string, limit int) (picked, error) {
	out := picked{cursor: cursor}
	// An earlier version wrote another format. Starting over sends nothing twice:
	// what was queued again is neither failed nor held, and that version sent nothing
	// else.
	after, err := domain.ParseCursor(domain.DeliveryList, cursor)
	hasCursor := err == nil
	var walks []string
	var args []any
	for _, state := range j.Filter.States {
		c := &conditions{args: args}
		addRedeliverable(c, j.CompanyID, j.Filter, state)
		if hasCursor {
			c.add("(d.created_at, d.id) > (?, ?)", after.Time(), after.UUID)
		}
		c.add("v.erased_at IS NULL")
		c.add("NOT d.is_test")
		c.args = append(c.args, limit)
		for _, kind := range kindWalks(domain.DeliveryFilter{Kind: j.Filter.Kind}, "1 = 1") {
			walks = append(walks, fmt.Sprintf(`SELECT * FROM (SELECT d.id, d.endpoint_id, d.created_at FROM deliveries d
				JOIN events v ON v.company_id = d.company_id AND v.id = d.event_id%s AND %s ORDER BY d.created_at, d.id LIMIT $%d) w`,
				c.where(), kind, len(c.args)))
		}
		args = c.args
	}
	args = append(args, limit)
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var id string
		var at time.Time
		key := domain.EndpointKey{CompanyID: j.CompanyID}
		err := r.Scan(&id, &key.ID, &at)
		out.ids, out.keys = append(out.ids, id), append(out.keys, key)
		out.cursor = domain.Cursor{At: at.UnixMilli(), UUID: id}.Format(domain.DeliveryList)
		return err
	}, fmt.Sprintf(`SELECT CAST(w.id AS text), w.endpoint_id, w.created_at FROM (%s) w ORDER BY w.created_at, w.id LIMIT $%d`,
		strings.Join(walks, " UNION ALL "), len(args)), args...)
	err = tx.Send(ctx, b)
	out.last = len(out.ids) < limit
	return out, err
}

// requeuePicked queues the step's deliveries again and stores how far the redelivery
// has come.
func (s *Store) requeuePicked(ctx context.Context, tx db.Tx, box *outbox, j domain.Redelivery, p picked) error {
	now := tx.Now()
	b := &db.Batch{}
	if len(p.ids) > 0 {
		rows, args := s.db.ValuesTable(4, db.UUIDs("key_id", p.ids))
		b.Exec(`UPDATE deliveries SET `+requeue+` FROM `+rows+` r
			WHERE company_id = $3 AND id = r.key_id AND state <> 'pending'`,
			append([]any{now, j.RequestedBy, j.CompanyID}, args...)...)
	}
	var end *time.Time
	if p.last {
		end = &now
	}
	b.Exec(`UPDATE redeliveries SET done = done + $3, cursor = $4, finished_at = $5, failures = 0 WHERE company_id = $1 AND id = $2`,
		j.CompanyID, j.ID, len(p.ids), p.cursor, end)
	seen := map[domain.EndpointKey]bool{}
	box.due = nil
	for _, k := range p.keys {
		if !seen[k] {
			seen[k] = true
			box.due = append(box.due, k)
		}
	}
	return tx.Send(ctx, b)
}
