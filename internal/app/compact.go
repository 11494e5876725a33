package app

import (
	"context"
	"fmt"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	// compactedSetting is the key of the setting that holds when the file was compacted last.
	compactedSetting = "compacted_at"
	compactInterval  = 7 * 24 * time.Hour
	// compactCheck is how often a server looks whether compactInterval has passed.
	compactCheck = time.Hour
	// maxWeeklyCompact is the largest database that a server compacts by itself:
	// writers wait meanwhile.
	maxWeeklyCompact = 256 * mebibyte
)

// Compacted is the size of the database before and after.
type Compacted struct {
	BytesBefore int64  `json:"bytesBefore"`
	BytesAfter  int64  `json:"bytesAfter"`
	Hint        string `json:"hint,omitempty"`
}

func (c Compacted) String() string {
	if c.Hint != "" {
		return c.Hint
	}
	return fmt.Sprintf("The database had %.1f MB and has %.1f MB now.", float64(c.BytesBefore)/1e6, float64(c.BytesAfter)/1e6)
}

const postgresCompactHint = "PostgreSQL frees the space of deleted rows by itself (autovacuum) and reuses it. To return it to the " +
	"system, run VACUUM (FULL, ANALYZE) with psql while the service is stopped. The traces of erased people in dead rows go with " +
	"the next VACUUM, those in the write-ahead log when the server recycles it."

// Compact makes an SQLite file as small as its content. Writers wait meanwhile.
func (a *App) Compact(ctx context.Context) (Compacted, error) {
	engine := a.store.Engine()
	before, err := engine.Size(ctx)
	if err != nil {
		return Compacted{}, err
	}
	if engine.Name() != "sqlite" {
		return Compacted{BytesBefore: before, BytesAfter: before, Hint: postgresCompactHint}, nil
	}
	if err := engine.Compact(ctx); err != nil {
		return Compacted{}, err
	}
	after, err := engine.Size(ctx)
	if err != nil {
		return Compacted{}, err
	}
	return Compacted{BytesBefore: before, BytesAfter: after}, a.setSetting(ctx, compactedSetting, domain.FormatInstant(a.store.Now()))
}

// compactWeekly compacts a small SQLite file once a week. Of a large one it only
// clears the traces of deleted rows, and asks for the command.
func (a *App) compactWeekly(ctx context.Context) error {
	now := a.store.Now()
	text, err := a.store.InitSetting(ctx, compactedSetting, []byte(domain.FormatInstant(now)))
	if err != nil {
		return err
	}
	last, err := time.Parse(time.RFC3339, string(text))
	if err == nil && now.Sub(last) < compactInterval {
		return nil
	}
	size, err := a.store.Engine().Size(ctx)
	if err != nil {
		return err
	}
	if size > maxWeeklyCompact {
		a.log.Info("the database is too large to compact while it serves", "size_bytes", size,
			"hint", "run coursebridge compact in a quiet hour; writers wait meanwhile")
		a.store.Engine().ScrubDeleted(ctx)
		return a.setSetting(ctx, compactedSetting, domain.FormatInstant(now))
	}
	done, err := a.Compact(ctx)
	if err == nil {
		a.log.Info("the database was compacted", "bytes_before", done.BytesBefore, "bytes_after", done.BytesAfter)
	}
	return err
}
