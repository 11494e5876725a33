package sqlite

import (
	"errors"
	"fmt"
	"os"
	"time"
)

var errFileLocked = errors.New("the file is locked by another process")

// The suffixes of the lock files: one is held while a new file or an old schema is
// prepared, the other by the server as long as it runs.
const (
	setupLockSuffix  = "-setup.lock"
	serverLockSuffix = "-server.lock"
)

// Claim makes this process the only server on the file until Close. Commands work
// next to it; a second server would send the same webhooks again.
func (e *Engine) Claim() error {
	lock, err := tryLockFile(e.path + serverLockSuffix)
	for try := 0; errors.Is(err, errFileLocked) && try < 10; try++ {
		time.Sleep(50 * time.Millisecond) // a command may be looking: see served
		lock, err = tryLockFile(e.path + serverLockSuffix)
	}
	if errors.Is(err, errFileLocked) {
		return fmt.Errorf("another server uses %s already; stop it first, or use PostgreSQL to run several", e.path)
	}
	if err != nil {
		return err
	}
	e.serverLock = lock
	return nil
}

// served reports whether a server in another process uses the file.
func (e *Engine) served() bool {
	path := e.path + serverLockSuffix
	if _, err := os.Stat(path); err != nil {
		return false
	}
	lock, err := tryLockFile(path)
	if err == nil {
		lock.unlock()
	}
	return err != nil
}

// setUp runs fn while no other process prepares the same file. fn must look first
// whether there is anything left to do. The lock file is removed afterwards.
func setUp(path string, fn func() error) error {
	lock, err := lockFile(path + setupLockSuffix)
	if err != nil {
		return err
	}
	defer lock.unlock()
	if err := fn(); err != nil {
		return err
	}
	_ = os.Remove(path + setupLockSuffix)
	return nil
}
