package secret

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Settings stores the record of the sealing key in the database.
type Settings interface {
	Setting(ctx context.Context, key string) ([]byte, error)
	InitSetting(ctx context.Context, key string, value []byte) ([]byte, error)
	CompareAndSwapSetting(ctx context.Context, key string, old, value []byte) (bool, error)
}

const (
	settingName = "sealing_key"
	// previousName is the setting with the same sealing keys, wrapped by the operator's
	// key from before a rotation. It is empty when no rotation is under way.
	previousName = "sealing_key_previous"
)

// Options name the operator's key. Key takes precedence over File.
type Options struct {
	Key  string // the value of COURSEBRIDGE_SECRET_KEY
	File string // created if it is missing; for databases that are files themselves
	// AllowUnprotected stores the sealing key unencrypted if there is neither Key
	// nor File. A key that is given later encrypts it from then on.
	AllowUnprotected bool
}

// Errors that the operator can resolve.
var (
	ErrNoKey = errors.New(Env + " is not set: webhook secrets are encrypted with a key that you give. " +
		"Set it to 32 random bytes (openssl rand -base64 32 makes them), the same on every replica, and keep a copy")
	ErrWrongKey = errors.New("this is not the key that the database's secrets were encrypted with. " +
		"Set " + Env + " to the former key; if it is lost, see coursebridge secret-key reset --help")
	errNoKeyFile = errors.New("the key file is missing")
)

// Open returns the box that encrypts this database's secrets. The error is a
// line for the operator if the key is missing, malformed or a different one.
func Open(ctx context.Context, settings Settings, o Options) (*Box, error) {
	ring, err := readRing(ctx, settings, o)
	if err != nil {
		return nil, err
	}
	return newBox(ring, func() ([]byte, error) {
		limited, cancel := context.WithTimeout(context.Background(), reloadTimeout)
		defer cancel()
		return readRing(limited, settings, o)
	})
}

// reloadTimeout bounds how long a secret of a new sealing key waits for the database.
const reloadTimeout = 5 * time.Second

// readRing returns the sealing keys. It creates the first one in a new database. While
// the operator's key is being rotated, the one before is accepted too.
func readRing(ctx context.Context, settings Settings, o Options) ([]byte, error) {
	stored, err := settings.Setting(ctx, settingName)
	if err != nil {
		return nil, fmt.Errorf("read the record of the sealing key: %w", err)
	}
	ring, err := currentRing(ctx, settings, o, stored)
	if !errors.Is(err, ErrWrongKey) && !errors.Is(err, ErrNoKey) {
		return ring, err
	}
	previous, previousErr := settings.Setting(ctx, previousName)
	if previousErr != nil {
		return nil, fmt.Errorf("read the record of the previous key: %w", previousErr)
	}
	if len(previous) == 0 {
		return nil, err
	}
	by, materialErr := o.material(previous[0] == recordWrapped)
	if materialErr != nil {
		return nil, err
	}
	return unwrapAny(previous, by)
}

// currentRing returns the sealing keys of the record, which it creates in a new database.
func currentRing(ctx context.Context, settings Settings, o Options, stored []byte) ([]byte, error) {
	by, err := o.material(len(stored) > 0 && stored[0] == recordWrapped)
	if err != nil {
		return nil, err
	}
	if stored == nil {
		if stored, err = create(ctx, settings, by); err != nil {
			return nil, err
		}
	}
	return reveal(ctx, settings, stored, by)
}

// material returns the operator's key, or nil if the sealing key may stay unprotected.
func (o Options) material(wrapped bool) (*material, error) {
	switch {
	case o.Key != "":
		m, err := parseKey(o.Key)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be used: %w", Env, err)
		}
		return &m, nil
	case o.File != "":
		return keyFile(o.File, wrapped)
	case o.AllowUnprotected && !wrapped:
		return nil, nil //nolint:nilnil // no key is a known answer here, and the only caller asks for it
	}
	return nil, ErrNoKey
}

// create makes a sealing key and stores it. Replicas that start together agree on one.
func create(ctx context.Context, settings Settings, by *material) ([]byte, error) {
	r, err := wrap(randomBytes(keySize), by)
	if err != nil {
		return nil, err
	}
	stored, err := settings.InitSetting(ctx, settingName, r.bytes())
	if err != nil {
		return nil, fmt.Errorf("keep the sealing key: %w", err)
	}
	return stored, nil
}

// reveal returns the sealing key. One that was unprotected is wrapped once there is a key.
func reveal(ctx context.Context, settings Settings, stored []byte, by *material) ([]byte, error) {
	r, err := parseRecord(stored)
	if err != nil {
		return nil, err
	}
	if r.kind == recordWrapped {
		if by == nil {
			return nil, ErrNoKey
		}
		sealing, err := r.unwrap(*by)
		if errors.Is(err, errWrongKey) {
			return nil, ErrWrongKey
		}
		return sealing, err
	}
	if by == nil {
		return r.key, nil
	}
	wrapped, err := wrap(r.key, by)
	if err != nil {
		return nil, err
	}
	// Another replica may have been quicker; it has the same sealing key.
	if _, err := settings.CompareAndSwapSetting(ctx, settingName, stored, wrapped.bytes()); err != nil {
		return nil, fmt.Errorf("wrap the sealing key: %w", err)
	}
	return r.key, nil
}

// keyFile reads the key file, or creates it if no secret depends on one yet.
func keyFile(path string, wrapped bool) (*material, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if wrapped {
			return nil, fmt.Errorf("%w: put the one that belongs to this database back as %s, or set %s to its content; "+
				"if it is lost, see coursebridge secret-key reset --help", errNoKeyFile, path, Env)
		}
		if err := makeKeyFile(path); err != nil {
			return nil, fmt.Errorf("make the key file: %w; let this user write to the folder of the database, or set %s", err, Env)
		}
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key file: %w; let this user read it, or set %s to its content", err, Env)
	}
	m, err := parseKey(string(text))
	if err != nil {
		return nil, fmt.Errorf("the key file %s cannot be used: %w", path, err)
	}
	return &m, nil
}

// CopyKeyFile copies the key file for a copy of its database.
func CopyKeyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("read the key file: %w", err)
	}
	if err := writeNew(to, string(text)); err != nil {
		return fmt.Errorf("copy the key file: %w", err)
	}
	return nil
}

// makeKeyFile creates the file unless another process did so first. It writes a
// temporary file and links it into place, so that nobody reads half of it. Where
// files cannot be linked, it writes in place.
func makeKeyFile(path string) error {
	text := base64.StdEncoding.EncodeToString(randomBytes(keySize)) + "\n"
	aside := path + "." + hex.EncodeToString(randomBytes(4))
	if err := writeNew(aside, text); err != nil {
		return err
	}
	err := os.Link(aside, path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = writeNew(path, text)
	}
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return errors.Join(err, os.Remove(aside))
}

func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
