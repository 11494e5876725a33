package app

import (
	"io"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/demo"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// Nobody joins after an assignment or begins before it, and every month of the past
// year has something in it.
func TestHistoryOfTheDemoIsConsistent(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, err := Open(ctx, Config{Database: "sqlite://" + filepath.Join(t.TempDir(), "demo.db"), Create: true, LogTo: io.Discard, LogLevel: slog.LevelError.String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	company, err := a.CreateCompany(ctx, "Northwind Energy", demoAdmin, "Europe/Riga")
	if err != nil {
		t.Fatal(err)
	}
	caller, err := a.caller(ctx, company.CompanyID)
	if err != nil {
		t.Fatal(err)
	}
	if err := demo.New(a.learning, a.store, caller).Seed(ctx, func(int, int, string) {}); err != nil {
		t.Fatal(err)
	}
	joined := map[string]time.Time{}
	people, err := a.learning.Employees(ctx, caller, domain.EmployeeFilter{}, domain.PageRequest{Number: 1, Limit: domain.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range people.Items {
		joined[e.ExternalID] = e.JoinedAt
	}
	page, err := a.learning.Assignments(ctx, caller, domain.AssignmentFilter{}, domain.PageRequest{Number: 1, Limit: domain.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	months, statuses := map[time.Month]bool{}, map[domain.Status]int{}
	for _, x := range page.Items {
		last := joined[x.EmployeeExternalID]
		for _, at := range []*time.Time{&x.AssignedAt, x.StartedAt, x.CompletedAt} {
			if at == nil {
				continue
			}
			if at.Before(last) {
				t.Errorf("%s: %s comes after %s", x.ExternalID, last, *at)
			}
			last = *at
		}
		statuses[x.Status]++
		if x.CompletedAt != nil {
			months[x.CompletedAt.Month()] = true
		}
	}
	if len(months) != 12 || len(statuses) < 4 {
		t.Errorf("assignments ended in %d months with statuses %v, want 12 months and four statuses", len(months), statuses)
	}
}
