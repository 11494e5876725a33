package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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

// Backup writes a consistent copy of the database to a new file and, if the key is
// in a file, a copy of the key next to it. After an error neither is left.
func (a *App) Backup(ctx context.Context, file string) (BackedUp, error) {
	out := BackedUp{File: file}
	copiedKey := false
	err := writeAtomically(file, func(partial string) error {
		if err := a.store.Engine().Backup(ctx, partial); err != nil {
			return err
		}
		if a.keyFile == "" || a.config.SecretKey != "" {
			return nil
		}
		out.KeyFile = file + keySuffix
		err := secret.CopyKeyFile(a.keyFile, out.KeyFile)
		copiedKey = err == nil
		return err
	})
	if err != nil {
		if copiedKey {
			err = errors.Join(err, removeIfExists(out.KeyFile))
		}
		return BackedUp{}, fmt.Errorf("back up: %w", err)
	}
	return out, nil
}

// writeAtomically creates an empty file with mode 0600 under a temporary name, calls
// write with that name, and renames it to file if write succeeds. It refuses to replace
// an existing file, and removes the temporary one after an error.
func writeAtomically(file string, write func(partial string) error) error {
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s already exists; name another file, or move it away first", file)
	}
	partial := file + partialSuffix
	f, err := os.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists: another backup or restore is writing it, or one was interrupted; if none is running, remove the file", partial)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the folder %s does not exist; create it, or name another file", filepath.Dir(file))
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
		return errors.Join(err, removeIfExists(partial))
	}
	return nil
}

func removeIfExists(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
