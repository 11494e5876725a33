package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/coursebridge/coursebridge/internal/batch"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// RecordResults writes the results of deliveries, by a fixed number of statements.
// A result whose delivery has changed, because another replica recorded the
// attempt, changes nothing. Several results that meet a locked delivery are not
// recorded; the error is batch.ErrSplit.
//
// The order matters: the deliveries are locked before the attempts are written,
// and erasing a person locks them too, so that either this sees that the event
// was erased or the erasure sees the attempt.
func (s *Store) RecordResults(ctx context.Context, results []domain.DeliveryResult) (domain.Recorded, error) {
	var out domain.Recorded
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		out = domain.Recorded{}
		now := s.db.Now()
		b := &db.Batch{}
		limitLockWait(b, s.db, len(results))
		s.moveDeliveries(b, results, now, &out.Deliveries)
		s.logAttempts(b, results)
		disabled := map[domain.EndpointKey]domain.DisabledReason{}
		judged := verdicts(results)
		s.judgeEndpoints(b, judged, now, disabled)
		if !slices.ContainsFunc(judged, verdict.mayDisable) { // nearly always, and then one round trip is enough
			tx.SendAndCommit(b)
			return nil
		}
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
	if len(results) > 1 && errors.Is(err, db.ErrLocked) {
		return out, batch.ErrSplit
	}
	return out, err
}

func disabledEntry(key domain.EndpointKey, reason domain.DisabledReason) domain.AuditEntry {
	detail := "The receiver answered 410 Gone."
	if reason == domain.DisabledByFailing {
		detail = fmt.Sprintf("Every attempt of the last %d days failed.", domain.FailingLimit/(24*time.Hour))
	}
	return domain.AuditEntry{
		CompanyID: key.CompanyID, Actor: domain.Actor{Kind: domain.ActorSystem, Label: "system"}, Action: "webhook.disabled",
		RecordKind: "webhook", RecordID: strconv.FormatInt(key.ID, 10), Detail: detail,
	}
}

// recordedAttempts is the delivery's number of attempts after the result.
func recordedAttempts(r *domain.DeliveryResult) int {
	if !r.HasAttempt() {
		return r.Delivery.Attempts
	}
	return r.Delivery.Attempts + 1
}

// recordedKind is the delivery's error kind after the result.
func recordedKind(r *domain.DeliveryResult) string {
	if !r.HasAttempt() {
		return domain.ErrorErased
	}
	return r.Attempt.ErrorKind
}

// moveDeliveries queues the new states. Two things may have happened meanwhile:
// someone asked for another round, which then follows this attempt; or the
// delivery was put aside (held, its endpoint removed, its person erased). Then a
// failure that would be tried again leaves it there, and any other result is the last.
func (s *Store) moveDeliveries(b *db.Batch, results []domain.DeliveryResult, now time.Time, out *[]domain.RecordedDelivery) {
	rows, args := s.db.ValuesTable(2, db.Columns(results,
		db.IntColumn("key_company", func(r *domain.DeliveryResult) int64 { return r.Endpoint.CompanyID }),
		db.UUIDColumn("key_id", func(r *domain.DeliveryResult) string { return r.Delivery.ID }),
		db.IntColumn("before", func(r *domain.DeliveryResult) int { return r.Delivery.Attempts }),
		db.IntColumn("after", recordedAttempts),
		db.IntColumn("round", func(r *domain.DeliveryResult) int { return r.Delivery.RoundStart }),
		db.IntColumn("code", func(r *domain.DeliveryResult) int { return r.Attempt.StatusCode }),
		db.TextColumn("new_state", func(r *domain.DeliveryResult) domain.DeliveryState { return r.State }),
		db.TextColumn("new_kind", recordedKind),
		db.TimeColumn("new_due", func(r *domain.DeliveryResult) time.Time { return r.DueAt }))...)
	const again, aside = `state = 'pending' AND round_start <> r.round`, `state <> 'pending' AND r.new_state = 'pending'`
	b.Query(func(r db.Rows) error {
		var d domain.RecordedDelivery
		err := r.Scan(&d.ID, &d.State, &d.DueAt)
		*out = append(*out, d)
		return err
	}, `UPDATE deliveries SET attempts = r.after, status_code = r.code,
			state = CASE WHEN `+again+` OR `+aside+` THEN state ELSE r.new_state END,
			error_kind = CASE WHEN `+aside+` THEN error_kind ELSE r.new_kind END,
			round_start = CASE WHEN `+again+` THEN r.after ELSE round_start END,
			due_at = CASE WHEN state = 'pending' AND round_start = r.round AND r.new_state = 'pending' THEN r.new_due ELSE due_at END,
			finished_at = CASE WHEN `+again+` OR r.new_state = 'pending' THEN finished_at ELSE $1 END
		FROM `+rows+` r WHERE company_id = r.key_company AND id = r.key_id AND attempts = r.before
		RETURNING CAST(id AS text), state, due_at`, append([]any{now}, args...)...)
}

// logAttempts queues the log of the attempts. If an event was erased while it was
// being sent, nothing is kept that the receiver may have echoed.
func (s *Store) logAttempts(b *db.Batch, results []domain.DeliveryResult) {
	var sent []domain.DeliveryResult
	for _, r := range results {
		if r.HasAttempt() {
			sent = append(sent, r)
		}
	}
	if len(sent) == 0 {
		return
	}
	rows, args := s.db.ValuesTable(2, db.Columns(sent,
		db.IntColumn("key_company", func(r *domain.DeliveryResult) int64 { return r.Endpoint.CompanyID }),
		db.IntColumn("event", func(r *domain.DeliveryResult) int64 { return r.Delivery.Sequence }),
		db.UUIDColumn("key_id", func(r *domain.DeliveryResult) string { return r.Delivery.ID }),
		db.IntColumn("number", func(r *domain.DeliveryResult) int { return r.Attempt.Number }),
		db.TextColumn("url", func(r *domain.DeliveryResult) string { return r.Attempt.URL }),
		db.TimeColumn("started", func(r *domain.DeliveryResult) time.Time { return r.Attempt.StartedAt }),
		db.IntColumn("duration", func(r *domain.DeliveryResult) int64 { return r.Attempt.Duration.Microseconds() }),
		db.IntColumn("code", func(r *domain.DeliveryResult) int { return r.Attempt.StatusCode }),
		db.TextColumn("error_kind", func(r *domain.DeliveryResult) string { return r.Attempt.ErrorKind }),
		db.TextColumn("error", func(r *domain.DeliveryResult) string { return r.Attempt.Error }),
		db.TextColumn("sent", func(r *domain.DeliveryResult) string { return encodeHeaders(r.Attempt.RequestHeaders) }),
		db.TextColumn("got", func(r *domain.DeliveryResult) string { return encodeHeaders(r.Attempt.ResponseHeaders) }),
		db.BytesColumn("body", func(r *domain.DeliveryResult) []byte { return append([]byte{}, r.Attempt.ResponseBody...) }),
		db.TextColumn("asker", func(r *domain.DeliveryResult) string { return r.Attempt.RequestedBy }))...)
	b.Exec(`INSERT INTO delivery_attempts (company_id, delivery_id, number, url, started_at, duration_us, status_code,
			error_kind, error, request_headers, response_headers, response_body, requested_by)
		SELECT r.key_company, r.key_id, r.number, r.url, r.started, r.duration, r.code, r.error_kind,
			CASE WHEN v.erased_at IS NULL THEN r.error ELSE '' END, r.sent,
			CASE WHEN v.erased_at IS NULL THEN r.got ELSE '[]' END,
			CASE WHEN v.erased_at IS NULL THEN r.body ELSE $1 END, r.asker
		FROM `+rows+` r`+s.db.LeftJoin("events", "v", `v.company_id = r.key_company AND v.id = r.event`)+`
		WHERE 1 = 1 ON CONFLICT (company_id, delivery_id, number) DO NOTHING`, append([]any{[]byte{}}, args...)...)
}

// verdict is what results say about an endpoint: one success clears its record; a
// 410, or nothing but failures for too long, disables it.
type verdict struct {
	key      domain.EndpointKey
	ok, gone bool
}

func (v verdict) mayDisable() bool { return v.gone || !v.ok }

func verdicts(results []domain.DeliveryResult) []verdict {
	var out []verdict
	for i := range results {
		r := &results[i]
		if !r.JudgesReceiver() {
			continue
		}
		at := slices.IndexFunc(out, func(v verdict) bool { return v.key == r.Endpoint })
		if at < 0 {
			at, out = len(out), append(out, verdict{key: r.Endpoint})
		}
		out[at].ok = out[at].ok || r.State == domain.DeliveryDelivered
		out[at].gone = out[at].gone || r.Gone
	}
	return out
}

// judgeEndpoints queues what verdicts mean for their endpoints, and reads which it disabled.
func (s *Store) judgeEndpoints(b *db.Batch, judged []verdict, now time.Time, disabled map[domain.EndpointKey]domain.DisabledReason) {
	if len(judged) == 0 {
		return
	}
	rows, args := s.db.ValuesTable(3, db.Columns(judged,
		db.IntColumn("key_company", func(v *verdict) int64 { return v.key.CompanyID }),
		db.IntColumn("key_id", func(v *verdict) int64 { return v.key.ID }),
		db.BoolColumn("ok", func(v *verdict) bool { return v.ok && !v.gone }),
		db.BoolColumn("gone", func(v *verdict) bool { return v.gone }))...)
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

// HoldDeliveries takes up to limit pending deliveries out of the queue of an endpoint
// that gets none: they are held if it is disabled, and failed if it was removed. It
// returns how many. Enabling the endpoint waits for it: see outbox.prepare.
func (s *Store) HoldDeliveries(ctx context.Context, key domain.EndpointKey, limit int) (int, error) {
	parked := 0
	err := s.write(ctx, func(tx db.Tx, _ *outbox) error {
		if lock := s.db.CompanyLock("$1::bigint", true); lock != "" {
			if _, err := tx.Exec(ctx, `SELECT `+lock, key.CompanyID); err != nil {
				return err
			}
		}
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
	out := append(make([]byte, 0, 1024), '[')
	for i, h := range in {
		if i > 0 {
			out = append(out, ',')
		}
		out = db.AppendQuoted(append(out, `{"name":`...), h.Name)
		out = append(db.AppendQuoted(append(out, `,"value":`...), h.Value), '}')
	}
	return string(append(out, ']'))
}
