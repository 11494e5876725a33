package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/secret"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/postgres"
	"github.com/coursebridge/coursebridge/internal/store/sqlite"
)

// Restored is a database that was made from a backup.
type Restored struct {
	File     string `json:"file"`
	Database string `json:"database"`
	Webhooks string `json:"webhooks"`
}

func (r Restored) String() string {
	return "The database " + r.Database + " was restored from " + r.File + ".\n" +
		"Servers on it send no webhooks until you run: coursebridge webhook resume"
}

// Restore makes the configured database from a backup. The database must not
// exist, or be empty. It sends no webhooks until ResumeWebhooks is called: the
// original may still be live.
func Restore(ctx context.Context, c Config, file string) (Restored, error) {
	if err := c.validate(); err != nil {
		return Restored{}, err
	}
	if _, err := os.Stat(file); err != nil {
		return Restored{}, fmt.Errorf("read the backup: %w; name a file that coursebridge backup has written", err)
	}
	var err error
	if path, ok := sqlitePath(c.Database); ok && path != "" {
		err = restoreSQLite(ctx, path, file)
	} else {
		err = restorePostgres(ctx, c, file)
	}
	if err != nil {
		return Restored{}, fmt.Errorf("restore: %w", err)
	}
	c.Create = true
	a, err := Open(ctx, c) // migrates a backup of an older version, and checks the key
	if err != nil {
		return Restored{}, err
	}
	return Restored{File: file, Database: Redact(c.Database), Webhooks: "off"}, a.Close()
}

func restoreSQLite(ctx context.Context, path, file string) error {
	key := path + keySuffix
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s exists already; move it away first", path)
	}
	return writeAtomically(path, func(partial string) error {
		if err := copyFile(file, partial); err != nil {
			return err
		}
		if err := markRestored(ctx, sqliteScheme+partial); err != nil {
			return err
		}
		if _, err := os.Stat(file + keySuffix); err != nil {
			return nil //nolint:nilerr // The key may come from the environment.
		}
		return secret.CopyKeyFile(file+keySuffix, key)
	})
}

func restorePostgres(ctx context.Context, c Config, file string) error {
	address := c.Database
	if c.TransactionPooler {
		if address = c.DatabaseDirect; address == "" {
			return postgres.ErrNeedsSession
		}
	}
	s, err := store.Open(ctx, address)
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	err = s.Engine().CheckSchema(ctx)
	if closeErr := s.Close(); closeErr != nil {
		return closeErr
	}
	if !errors.Is(err, db.ErrNoSchema) {
		return fmt.Errorf("%s holds a coursebridge database already; name an empty one", Redact(address))
	}
	if err := postgres.Restore(ctx, address, file); err != nil {
		return err
	}
	return markRestored(ctx, address)
}

// markRestored lets a database remember that it was restored.
func markRestored(ctx context.Context, address string) error {
	if path, ok := sqlitePath(address); ok {
		if err := sqlite.Verify(ctx, path); err != nil {
			return err
		}
	}
	s, err := store.Open(ctx, address)
	if err != nil {
		return fmt.Errorf("open the restored database: %w", err)
	}
	a := &App{store: s}
	err = a.setSetting(ctx, restoredSetting, domain.FormatInstant(s.Now()))
	return errors.Join(err, s.Close())
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}
