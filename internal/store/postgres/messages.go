package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	messagePoll = 200 * time.Millisecond
	// messageWindow is how long a message is looked for after others with a greater
	// id were seen: ids are given out before the commit.
	messageWindow = 5 * time.Second
	// messageLife is how long messages are kept.
	messageLife = time.Minute
)

// newMessagesSQL reads messages that were published lately. Their age is measured by
// the clock that stamped them.
const newMessagesSQL = `
	SELECT id, keys FROM messages WHERE topic = $1 AND created_at > clock_timestamp() - $2 * interval '1 millisecond' AND id > $3
	ORDER BY id`

// message is a row of the table messages.
type message struct {
	ID   int64
	Keys string
}

// pollMessages calls fn with the keys of new messages until ctx ends or a query fails.
func (e *Engine) pollMessages(ctx context.Context, topic string, fn func(keys []string)) error {
	seen := &seenMessages{at: map[int64]time.Time{}}
	known, err := e.newMessages(ctx, topic, seen)
	if err != nil {
		return err
	}
	seen.add(known)
	fn(nil)
	tick := time.NewTicker(messagePoll)
	defer tick.Stop()
	for cleaned := time.Now(); ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		found, err := e.newMessages(ctx, topic, seen)
		if err != nil {
			return err
		}
		for _, m := range seen.add(found) {
			var keys []string
			if json.Unmarshal([]byte(m.Keys), &keys) == nil {
				fn(keys)
			}
		}
		if time.Since(cleaned) > messageLife {
			cleaned = time.Now()
			if err := e.deleteOldMessages(ctx); err != nil {
				return err
			}
		}
	}
}

func (e *Engine) newMessages(ctx context.Context, topic string, seen *seenMessages) ([]message, error) {
	rows, err := e.pool.Query(ctx, newMessagesSQL, topic, messageWindow.Milliseconds(), seen.floor)
	if err != nil {
		return nil, mapError(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[message])
	return out, mapError(err)
}

// deleteOldMessages skips what another process deletes at the same time.
func (e *Engine) deleteOldMessages(ctx context.Context) error {
	_, err := e.pool.Exec(ctx, `
		DELETE FROM messages WHERE id IN (
			SELECT id FROM messages WHERE created_at < clock_timestamp() - $1 * interval '1 millisecond' FOR UPDATE SKIP LOCKED)`,
		messageLife.Milliseconds())
	return mapError(err)
}

// seenMessages remembers the ids of the latest messages. All up to floor are older than
// the window.
type seenMessages struct {
	at    map[int64]time.Time
	floor int64
}

// add returns the messages that were not seen before.
func (s *seenMessages) add(found []message) []message {
	now := time.Now()
	var fresh []message
	for _, m := range found {
		if _, known := s.at[m.ID]; !known {
			s.at[m.ID] = now
			fresh = append(fresh, m)
		}
	}
	for id, at := range s.at {
		if now.Sub(at) > messageWindow {
			s.floor = max(s.floor, id)
		}
	}
	for id := range s.at {
		if id <= s.floor {
			delete(s.at, id)
		}
	}
	return fresh
}
