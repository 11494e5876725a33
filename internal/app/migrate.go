package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// Migrated is the state of the schema.
type Migrated struct {
	Status string `json:"status"`
}

func (m Migrated) String() string { return "The database is " + m.Status + "." }

const upToDate = "up to date"

// Migrate creates or migrates the schema.
func Migrate(ctx context.Context, c Config) (Migrated, error) {
	c.Create = true
	a, err := Open(ctx, c)
	if err != nil {
		return Migrated{}, err
	}
	err = a.store.Engine().Migrated(ctx)
	return Migrated{Status: upToDate}, errors.Join(err, a.Close())
}

// MigrationStatus reports what Migrate would do. It changes nothing.
func MigrationStatus(ctx context.Context, c Config) (Migrated, error) {
	a := &App{config: c}
	if err := a.requireFile(); err != nil {
		return Migrated{Status: "missing: it would be created"}, nil
	}
	s, err := store.OpenWith(ctx, c.Database, c.databaseOptions())
	if err != nil {
		return Migrated{}, fmt.Errorf("open the database: %w", err)
	}
	defer func() { _ = s.Close() }()
	err = s.Engine().Migrated(ctx)
	switch {
	case errors.Is(err, db.ErrNoSchema):
		return Migrated{Status: "empty: its schema would be created"}, nil
	case errors.Is(err, db.ErrUnavailable):
		return Migrated{}, err
	case err != nil:
		return Migrated{Status: "not up to date: " + err.Error()}, nil
	}
	return Migrated{Status: upToDate}, nil
}
