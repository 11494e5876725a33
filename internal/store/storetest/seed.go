package storetest

import (
	"encoding/json"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// Company creates a company and returns a caller for it.
func Company(tb testing.TB, s *store.Store, name string) domain.Caller {
	tb.Helper()
	c := domain.Company{Name: name, TimeZone: "UTC", DefaultDeadlineDays: domain.DefaultDeadlineDays}
	err := s.Engine().Write(tb.Context(), func(tx db.Tx) error {
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&c.ID) },
			`INSERT INTO companies (name, time_zone, default_deadline_days, created_at) VALUES ($1, $2, $3, $4) RETURNING id`,
			c.Name, c.TimeZone, c.DefaultDeadlineDays, s.Now())
		if err := tx.Send(tb.Context(), b); err != nil {
			return err
		}
		_, err := tx.Exec(tb.Context(), `INSERT INTO total_companies (company_id, kept_at, figures_kept_at) VALUES ($1, $2, $2)`, c.ID, s.Now())
		return err
	})
	if err != nil {
		tb.Fatalf("create a company: %v", err)
	}
	return domain.Caller{Company: c, Actor: domain.Actor{Kind: domain.ActorToken, ID: 1, Label: "test"}}
}

// Endpoint creates an endpoint that subscribes to every event, and returns its id.
func Endpoint(tb testing.TB, s *store.Store, company int64) int64 {
	tb.Helper()
	kinds, err := json.Marshal(domain.EventKinds)
	if err != nil {
		tb.Fatal(err)
	}
	var id int64
	err = s.Engine().Write(tb.Context(), func(tx db.Tx) error {
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&id) },
			`INSERT INTO endpoints (company_id, url, description, events, secret, created_at, created_by, disabled_reason, lease_owner, lease_until)
			VALUES ($1, 'https://hooks.test/', '', $2, $3, $4, 'test', '', '', $4) RETURNING id`,
			company, string(kinds), []byte("sealed"), s.Now())
		return tx.Send(tb.Context(), b)
	})
	if err != nil {
		tb.Fatalf("create an endpoint: %v", err)
	}
	return id
}
