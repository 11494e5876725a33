package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/coursebridge/coursebridge/internal/secret"
)

// partialSuffix is appended to the name of a file that is still being written.
const partialSuffix = ".partial"

// BackedUp is a copy of the database, with the key file that it needs, if any.
type BackedUp struct {
	File    string `json:"file"`
	KeyFile string `json:"keyFile,omitempty"`
}

func (b BackedUp) String() string {
	text := "The database was copied to " + b.File + "."
	if b.KeyFile != "" {
		text += "\nIts key was copied to " + b.KeyFile + ". The copy cannot be opened without it: keep both, and keep the key safe."
	}
	return text
}

// Backup writes a consistent copy to a new file and, if the key is in a file,
// the key next to it. Both appear complete or not at all.
func (a *App) Backup(ctx context.Context, file string) (BackedUp, error) {
	out := BackedUp{File: file}
	err := writeAside(file, func(partial string) error {
		if err := a.store.Engine().Backup(ctx, partial); err != nil {
			return err
		}
		if a.keyFile == "" || a.config.SecretKey != "" {
			return nil
		}
		out.KeyFile = file + keySuffix
		return secret.CopyKeyFile(a.keyFile, out.KeyFile)
	})
	if err != nil {
		return BackedUp{}, fmt.Errorf("back up: %w", err)
	}
	return out, nil
}

// writeAside calls write with the name of a new empty file of mode 0600 and
// gives it its own name once it is complete. After an error nothing is left.
func writeAside(file string, write func(partial string) error) error {
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s exists already; name a new file", file)
	}
	partial := file + partialSuffix
	f, err := os.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists: another command is writing it, or one was killed; remove the file in that case", partial)
	}
	if err != nil {
		return err
	}
	err = f.Close()
	if err == nil {
		err = write(partial)
	}
	if err == nil {
		err = os.Rename(partial, file)
	}
	if err != nil {
		return errors.Join(err, removeIfThere(partial))
	}
	return nil
}

func removeIfThere(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
