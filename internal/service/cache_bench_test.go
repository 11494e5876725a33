package service_test

import (
	"context"
	"crypto/sha256"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// BenchmarkCaches compares what the caches of tokens and courses save: the call that uses
// the cache, and the reading of the database that it would be without.
func BenchmarkCaches(b *testing.B) {
	for _, engine := range []struct {
		name string
		open func(testing.TB) string
	}{{"sqlite", storetest.SQLite}, {"postgres", storetest.Postgres}} {
		b.Run(engine.name, func(b *testing.B) {
			s := storetest.Open(b, engine.open(b))
			company, _, err := service.NewCompanies(s, 0).Create(b.Context(), operator, domain.NewCompany{Name: "Acme", AdminEmail: "anna@x.test"})
			must(b, "create a company", err)
			watcher := service.NewWatcher(s, service.WatcherOptions{})
			tokens, learning := service.NewTokens(s, watcher, service.TokenOptions{}), service.NewLearning(s, watcher)
			go watcher.Run(b.Context())
			b.Cleanup(func() { must(b, "close", tokens.Close()) })
			caller := domain.Caller{Company: company, Actor: operator}
			_, secret, err := tokens.Create(b.Context(), caller, domain.NewToken{Name: "HR"})
			must(b, "create a token", err)
			for _, name := range []string{"First aid", "Fire safety", "Data protection"} {
				_, err := learning.AddCourse(b.Context(), caller, domain.Course{Name: name})
				must(b, "add a course", err)
			}
			digest := sha256.Sum256([]byte(secret))
			for _, c := range []struct {
				name string
				call func(context.Context) error
			}{
				{"token/cached", func(ctx context.Context) error { _, err := tokens.Authenticate(ctx, secret, here.Address); return err }},
				{"token/read", func(ctx context.Context) error { _, err := s.TokenByHash(ctx, digest); return err }},
				{"courses/cached", func(ctx context.Context) error { _, err := learning.Courses(ctx, caller); return err }},
				{"courses/read", func(ctx context.Context) error { _, _, err := s.Courses(ctx, company.ID); return err }},
			} {
				b.Run(c.name, func(b *testing.B) {
					for b.Loop() {
						must(b, c.name, c.call(b.Context()))
					}
				})
			}
		})
	}
}
