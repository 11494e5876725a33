package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// maxPayload is below PostgreSQL's limit of 8,000 bytes per notification.
const maxPayload = 7000

// Publish sends the keys as notifications.
func (e *Engine) Publish(ctx context.Context, topic string, keys []string) error {
	for len(keys) > 0 {
		n, size := 0, 2
		for n < len(keys) && size+len(keys[n])+3 < maxPayload {
			size += len(keys[n]) + 3
			n++
		}
		n = max(n, 1)
		payload, err := json.Marshal(keys[:n])
		if err != nil {
			return fmt.Errorf("encode a notification: %w", err)
		}
		if _, err := e.pool.Exec(ctx, e.publishSQL(), topic, string(payload)); err != nil {
			return mapError(err)
		}
		keys = keys[n:]
	}
	return nil
}

// publishSQL returns the statement that publishes keys. Behind a pooler without a
// direct address nobody can listen, so they are also kept in a table for a while.
func (e *Engine) publishSQL() string {
	if e.hasSessions() {
		return "SELECT pg_notify($1, $2)"
	}
	return `WITH m AS (INSERT INTO messages (topic, keys, created_at) VALUES ($1, $2, clock_timestamp()))
		SELECT pg_notify($1, $2)`
}

// Listen holds one connection outside the pool and reconnects when it breaks. Behind a
// pooler without a direct address it polls instead.
func (e *Engine) Listen(ctx context.Context, topic string, fn func(keys []string)) error {
	listen := e.listenOnce
	if !e.hasSessions() {
		listen = e.pollMessages
	}
	for {
		err := listen(ctx, topic, fn)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Second):
			}
		}
	}
}

func (e *Engine) listenOnce(ctx context.Context, topic string, fn func(keys []string)) error {
	cfg, err := e.sessionConfig()
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return mapError(err)
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{topic}.Sanitize()); err != nil {
		return mapError(err)
	}
	fn(nil)
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return mapError(err)
		}
		var keys []string
		if json.Unmarshal([]byte(n.Payload), &keys) == nil {
			fn(keys)
		}
	}
}
