package store

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// RecordResults writes what became of deliveries, by a fixed number of
// statements. A result whose delivery has moved on, for another replica recorded
// the attempt, changes nothing.
//
// The order matters: the deliveries are locked before the attempts are written,
// and erasing a person locks them too, so that either this sees that the event
// was erased or the erasure sees the attempt.
func (s *Store) RecordResults(ctx context.Context, results []domain.DeliveryResult) (domain.Recorded, error) {
	var out domain.Recorded
	columns := newResultColumns(results)
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		out = domain.Recorded{}
		now := s.db.Now()
		b := &db.Batch{}
		s.moveDeliveries(b, columns, now, &out.Deliveries)
		s.logAttempts(b, results)
		disabled := map[domain.EndpointKey]domain.DisabledReason{}
		s.judgeEndpoints(b, results, now, disabled)
		if err := tx.Send(ctx, b); err != nil || len(disabled) == 0 {
			return err
		}
		b = &db.Batch{}
		for key, reason := range disabled {
			out.Disabled = append(out.Disabled, key)
			box.audit(b, tx.Now(), disabledEntry(key, reason))
		}
		tx.SendAndCommit(b)
		return nil
	})
	return out, err
}

func disabledEntry(key domain.EndpointKey, reason domain.DisabledReason) domain.AuditEntry {
	detail := "The receiver answered 410 Gone."
	if reason == domain.DisabledByFailing {
		detail = "Every attempt of the last 5 days failed."
	}
	return domain.AuditEntry{
		CompanyID: key.CompanyID, Actor: domain.Actor{Kind: domain.ActorSystem, Label: "system"}, Action: "webhook.disabled",
		RecordKind: "webhook", RecordID: strconv.FormatInt(key.ID, 10), Detail: detail,
	}
}

// resultColumns are results column by column.
type resultColumns struct {
	companies, before, after, rounds, codes []int64
	ids, states, kinds                      []string
	dues                                    []time.Time
}

func newResultColumns(results []domain.DeliveryResult) *resultColumns {
	c := &resultColumns{}
	for i := range results {
		r := &results[i]
		after, kind := r.Delivery.Attempts+1, r.Attempt.ErrorKind
		if r.Attempt.Number == 0 {
			after, kind = r.Delivery.Attempts, domain.ErrorErased
		}
		c.companies, c.ids = append(c.companies, r.Endpoint.CompanyID), append(c.ids, r.Delivery.ID)
		c.before, c.after = append(c.before, int64(r.Delivery.Attempts)), append(c.after, int64(after))
		c.rounds, c.codes = append(c.rounds, int64(r.Delivery.RoundStart)), append(c.codes, int64(r.Attempt.StatusCode))
		c.states, c.kinds = append(c.states, string(r.State)), append(c.kinds, kind)
		c.dues = append(c.dues, r.DueAt)
	}
	return c
}

// moveDeliveries queues the new states. Two things may have happened meanwhile:
// someone asked for another round, which then follows this attempt; or the
// delivery was put aside (held, its endpoint removed, its person erased), and
// then a failure leaves it there.
func (s *Store) moveDeliveries(b *db.Batch, c *resultColumns, now time.Time, out *[]domain.RecordedDelivery) {
	rows, args := s.db.ValuesTable(2,
		db.Column{Name: "key_company", Type: db.Int, Values: c.companies}, db.Column{Name: "key_id", Type: db.UUID, Values: c.ids},
		db.Column{Name: "before", Type: db.Int, Values: c.before}, db.Column{Name: "after", Type: db.Int, Values: c.after},
		db.Column{Name: "round", Type: db.Int, Values: c.rounds}, db.Column{Name: "code", Type: db.Int, Values: c.codes},
		db.Column{Name: "new_state", Type: db.Text, Values: c.states}, db.Column{Name: "new_kind", Type: db.Text, Values: c.kinds},
		db.Column{Name: "new_due", Type: db.Time, Values: c.dues})
	const again, aside = `state = 'pending' AND round_start <> r.round`, `state <> 'pending' AND r.new_state = 'pending'`
	b.Query(func(r db.Rows) error {
		var d domain.RecordedDelivery
		var state string
		err := r.Scan(&d.Seq, &state, &d.DueAt)
		d.State = domain.DeliveryState(state)
		*out = append(*out, d)
		return err
	}, `UPDATE deliveries SET attempts = r.after, status_code = r.code,
			state = CASE WHEN `+again+` OR `+aside+` THEN state ELSE r.new_state END,
			error_kind = CASE WHEN `+aside+` THEN error_kind ELSE r.new_kind END,
			round_start = CASE WHEN `+again+` THEN r.after ELSE round_start END,
			due_at = CASE WHEN state = 'pending' AND round_start = r.round AND r.new_state = 'pending' THEN r.new_due ELSE due_at END,
			finished_at = CASE WHEN `+again+` OR r.new_state = 'pending' THEN finished_at ELSE $1 END
		FROM `+rows+` r WHERE company_id = r.key_company AND id = r.key_id AND attempts = r.before
		RETURNING seq, state, due_at`, append([]any{now}, args...)...)
}

// logAttempts queues the log. Of an event that was erased while it was on its
// way nothing is kept that the receiver may have echoed.
func (s *Store) logAttempts(b *db.Batch, results []domain.DeliveryResult) {
	var companies, events, numbers, durations, codes []int64
	var ids, urls, kinds, errs, sent, got, askers []string
	var starts []time.Time
	var bodies [][]byte
	for i := range results {
		a := &results[i].Attempt
		if a.Number == 0 {
			continue
		}
		companies, events = append(companies, results[i].Endpoint.CompanyID), append(events, results[i].Delivery.EventID)
		ids, numbers = append(ids, results[i].Delivery.ID), append(numbers, int64(a.Number))
		urls, starts = append(urls, a.URL), append(starts, a.StartedAt)
		durations, codes = append(durations, a.Duration.Microseconds()), append(codes, int64(a.StatusCode))
		kinds, errs = append(kinds, a.ErrorKind), append(errs, a.Error)
		sent, got = append(sent, encodeHeaders(a.RequestHeaders)), append(got, encodeHeaders(a.ResponseHeaders))
		bodies, askers = append(bodies, append([]byte{}, a.ResponseBody...)), append(askers, a.RequestedBy)
	}
	if len(ids) == 0 {
		return
	}
	rows, args := s.db.ValuesTable(2,
		db.Column{Name: "key_company", Type: db.Int, Values: companies}, db.Column{Name: "event", Type: db.Int, Values: events},
		db.Column{Name: "key_id", Type: db.UUID, Values: ids}, db.Column{Name: "number", Type: db.Int, Values: numbers},
		db.Column{Name: "url", Type: db.Text, Values: urls}, db.Column{Name: "started", Type: db.Time, Values: starts},
		db.Column{Name: "duration", Type: db.Int, Values: durations}, db.Column{Name: "code", Type: db.Int, Values: codes},
		db.Column{Name: "error_kind", Type: db.Text, Values: kinds}, db.Column{Name: "error", Type: db.Text, Values: errs},
		db.Column{Name: "sent", Type: db.Text, Values: sent}, db.Column{Name: "got", Type: db.Text, Values: got},
		db.Column{Name: "body", Type: db.Bytes, Values: bodies}, db.Column{Name: "asker", Type: db.Text, Values: askers})
	b.Exec(`INSERT INTO delivery_attempts (company_id, delivery_id, number, url, started_at, duration_us, status_code,
			error_kind, error, request_headers, response_headers, response_body, requested_by)
		SELECT r.key_company, r.key_id, r.number, r.url, r.started, r.duration, r.code, r.error_kind,
			CASE WHEN v.erased_at IS NULL THEN r.error ELSE '' END, r.sent,
			CASE WHEN v.erased_at IS NULL THEN r.got ELSE '[]' END,
			CASE WHEN v.erased_at IS NULL THEN r.body ELSE $1 END, r.asker
		FROM `+rows+` r LEFT JOIN events v ON v.company_id = r.key_company AND v.id = r.event
		WHERE 1 = 1 ON CONFLICT (company_id, delivery_id, number) DO NOTHING`, append([]any{[]byte{}}, args...)...)
}

// judgeEndpoints queues what the results say about endpoints: one success clears
// the record; a 410, or nothing but failures for too long, disables.
func (s *Store) judgeEndpoints(b *db.Batch, results []domain.DeliveryResult, now time.Time, disabled map[domain.EndpointKey]domain.DisabledReason) {
	type verdict struct{ ok, gone bool }
	verdicts := map[domain.EndpointKey]*verdict{}
	for i := range results {
		r := &results[i]
		if r.Attempt.Number == 0 {
			continue
		}
		v := verdicts[r.Endpoint]
		if v == nil {
			v = &verdict{}
			verdicts[r.Endpoint] = v
		}
		v.ok = v.ok || r.State == domain.DeliveryDelivered
		v.gone = v.gone || r.Gone
	}
	if len(verdicts) == 0 {
		return
	}
	var companies, ids []int64
	var oks, gones []bool
	for key, v := range verdicts {
		companies, ids = append(companies, key.CompanyID), append(ids, key.ID)
		oks, gones = append(oks, v.ok && !v.gone), append(gones, v.gone)
	}
	rows, args := s.db.ValuesTable(3,
		db.Column{Name: "key_company", Type: db.Int, Values: companies}, db.Column{Name: "key_id", Type: db.Int, Values: ids},
		db.Column{Name: "ok", Type: db.Bool, Values: oks}, db.Column{Name: "gone", Type: db.Bool, Values: gones})
	b.Query(func(r db.Rows) error {
		var key domain.EndpointKey
		var reason string
		if err := r.Scan(&key.CompanyID, &key.ID, &reason); err != nil {
			return err
		}
		if reason != "" {
			disabled[key] = domain.DisabledReason(reason)
		}
		return nil
	}, `UPDATE endpoints SET
			failing_since = CASE WHEN r.ok THEN NULL ELSE coalesce(failing_since, $1) END,
			disabled_at = CASE WHEN r.gone OR NOT r.ok AND failing_since <= $2 THEN $1 END,
			disabled_reason = CASE WHEN r.gone THEN 'gone' WHEN NOT r.ok AND failing_since <= $2 THEN 'failing' ELSE '' END
		FROM `+rows+` r WHERE company_id = r.key_company AND id = r.key_id AND disabled_at IS NULL AND removed_at IS NULL
			AND (r.gone OR r.ok AND failing_since IS NOT NULL OR NOT r.ok AND (failing_since IS NULL OR failing_since <= $2))
		RETURNING company_id, id, disabled_reason`, append([]any{now, now.Add(-domain.FailingLimit)}, args...)...)
}

// ParkDeliveries puts up to limit pending deliveries of an endpoint aside that
// takes none: held if it is disabled, failed if it was removed. It gives how many.
func (s *Store) ParkDeliveries(ctx context.Context, key domain.EndpointKey, limit int) (int, error) {
	parked := 0
	err := s.write(ctx, func(tx db.Tx, _ *outbox) error {
		n, err := tx.Exec(ctx, `UPDATE deliveries SET
				state = CASE WHEN e.removed_at IS NULL THEN 'held' ELSE 'failed' END,
				error_kind = CASE WHEN e.removed_at IS NULL THEN error_kind ELSE '`+domain.ErrorRemoved+`' END,
				finished_at = CASE WHEN e.removed_at IS NULL THEN finished_at ELSE $4 END
			FROM (SELECT removed_at FROM endpoints WHERE company_id = $1 AND id = $2
				AND (disabled_at IS NOT NULL OR removed_at IS NOT NULL)) e
			WHERE company_id = $1 AND state = 'pending' AND id IN (SELECT d.id FROM deliveries d WHERE d.company_id = $1
				AND d.endpoint_id = $2 AND d.state = 'pending' ORDER BY d.due_at, d.seq LIMIT $3)`,
			key.CompanyID, key.ID, limit, s.db.Now())
		parked = int(n)
		return err
	})
	return parked, err
}

func encodeHeaders(in []domain.Header) string {
	if len(in) == 0 {
		return "[]"
	}
	out, err := json.Marshal(in)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(out)
}
