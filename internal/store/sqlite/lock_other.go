//go:build !unix

package sqlite

// fileLock does nothing where the system has no flock: nothing keeps a second
// server from the file there.
type fileLock struct{}

func lockFile(string) (*fileLock, error) { return &fileLock{}, nil }

func tryLockFile(string) (*fileLock, error) { return &fileLock{}, nil }

func (*fileLock) unlock() {}
