package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/migrations"
)

// Migrated is the state of the schema.
type Migrated struct {
	Status  string   `json:"status"`
	Pending []string `json:"pending,omitempty"` // the migrations that would be applied
}

func (m Migrated) String() string {
	text := "The database is " + m.Status + "."
	if len(m.Pending) > 0 {
		text += " These migrations would be applied:\n  " + strings.Join(m.Pending, "\n  ")
	}
	return text
}

const upToDate = "up to date"

// Migrate creates or migrates the schema.
func Migrate(ctx context.Context, c Config) (Migrated, error) {
	c.Create = true
	a, err := Open(ctx, c)
	if err != nil {
		return Migrated{}, err
	}
	err = a.store.Engine().CheckSchema(ctx)
	return Migrated{Status: upToDate}, errors.Join(err, a.Close())
}

// MigrationStatus reports what Migrate would do. It changes nothing.
func MigrationStatus(ctx context.Context, c Config) (Migrated, error) {
	a := &App{config: c}
	if err := a.requireFile(); err != nil {
		return Migrated{Status: "missing: it would be created", Pending: migrations.Missing(0)}, nil
	}
	s, err := store.OpenWith(ctx, c.Database, c.databaseOptions())
	if err != nil {
		return Migrated{}, fmt.Errorf("open the database: %w", err)
	}
	defer func() { _ = s.Close() }()
	err = s.Engine().CheckSchema(ctx)
	var outdated *migrations.OutdatedError
	switch {
	case errors.Is(err, db.ErrNoSchema):
		return Migrated{Status: "empty: its schema would be created", Pending: migrations.Missing(0)}, nil
	case errors.As(err, &outdated):
		return Migrated{Status: "not up to date: " + err.Error(), Pending: migrations.Missing(outdated.Version)}, nil
	case errors.Is(err, db.ErrUnavailable):
		return Migrated{}, err
	case err != nil:
		return Migrated{Status: "not up to date: " + err.Error()}, nil
	}
	return Migrated{Status: upToDate}, nil
}
