//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// fileLock is a lock that ends with the process. It is a file of its own, because
// closing any descriptor of the database's file would drop SQLite's locks on it.
type fileLock struct{ file *os.File }

// lockFile waits for the lock that the file at path stands for.
func lockFile(path string) (*fileLock, error) { return flock(path, syscall.LOCK_EX) }

// tryLockFile returns errFileLocked if another process holds the lock.
func tryLockFile(path string) (*fileLock, error) { return flock(path, syscall.LOCK_EX|syscall.LOCK_NB) }

func flock(path string, how int) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open a lock file: %w; this user must be able to write to the folder of the database", err)
	}
	for {
		err = syscall.Flock(int(file.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil && isNamed(file, path) {
		return &fileLock{file}, nil
	}
	_ = file.Close()
	switch {
	case err == nil: // the holder before us removed the file
		return flock(path, how)
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errFileLocked
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// isNamed reports whether the open file is still the one at path.
func isNamed(file *os.File, path string) bool {
	own, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(own, named)
}

func (l *fileLock) unlock() { _ = l.file.Close() }
