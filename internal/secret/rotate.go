package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
)

// newSuffix is appended to a key file's name for the key that a rotation introduces.
const newSuffix = ".new"

// Rotate adds a sealing key and wraps all of them by a new operator's key: newKey, or
// one that it writes to the key file. The key before stays valid until Finish. The old
// keys alone do not open what is encrypted with the added one. A rotation that was
// interrupted is continued.
func Rotate(ctx context.Context, settings Settings, o Options, newKey string) error {
	before, after, err := rotationKeys(o, newKey)
	if err != nil {
		return err
	}
	stored, err := settings.Setting(ctx, settingName)
	if err != nil {
		return fmt.Errorf("read the record of the sealing key: %w", err)
	}
	if _, err := unwrapAny(stored, after); err != nil || stored[0] == recordPlain {
		if err := addKey(ctx, settings, stored, [2]*material{before, after}); err != nil {
			return err
		}
	}
	if o.Key != "" || o.File == "" {
		return nil
	}
	if err := os.Rename(o.File+newSuffix, o.File); err != nil {
		return fmt.Errorf("replace the key file: %w", err)
	}
	return nil
}

// rotationKeys returns the operator's keys before and after a rotation.
func rotationKeys(o Options, newKey string) (before, after *material, err error) {
	if o.Key == "" && o.File != "" {
		if before, err = keyFile(o.File, true); err == nil {
			after, err = keyFile(o.File+newSuffix, false)
		}
		return before, after, err
	}
	if newKey == "" {
		return nil, nil, errors.New("the new key is missing: set COURSEBRIDGE_NEW_SECRET_KEY, or COURSEBRIDGE_NEW_SECRET_KEY_FILE to the name of its file")
	}
	parsed, err := parseKey(newKey)
	if err != nil {
		return nil, nil, fmt.Errorf("the new key cannot be used: %w", err)
	}
	if o.Key == "" {
		return nil, &parsed, nil
	}
	old, err := parseKey(o.Key)
	if err != nil {
		return nil, nil, fmt.Errorf("%s cannot be used: %w", Env, err)
	}
	if old.passphrase == parsed.passphrase && bytes.Equal(old.raw, parsed.raw) {
		return nil, nil, errors.New("the new key is the old one; openssl rand -base64 32 makes another")
	}
	return &old, &parsed, nil
}

// addKey stores the ring with one more key, first wrapped by the key before, then by
// the key after. Between the two steps the old record holds, and nothing was encrypted
// with the added key.
func addKey(ctx context.Context, settings Settings, stored []byte, by [2]*material) error {
	ring, err := unwrapAny(stored, by[0])
	if err != nil {
		return err
	}
	if len(ring) >= maxRing*keySize {
		return errors.New("the database has no room for another sealing key")
	}
	ring = append(bytes.Clone(ring), randomBytes(keySize)...)
	var records [2][]byte
	for i, m := range by {
		r, err := wrap(ring, m)
		if err != nil {
			return err
		}
		records[i] = r.bytes()
	}
	if err := put(ctx, settings, previousName, records[0]); err != nil {
		return err
	}
	swapped, err := settings.CompareAndSwapSetting(ctx, settingName, stored, records[1])
	if err == nil && !swapped {
		err = errors.New("another process has changed the key meanwhile; run the command again")
	}
	return err
}

// Finish ends a rotation: the operator's key from before no longer opens the database.
// The key that o names must be the new one.
func Finish(ctx context.Context, settings Settings, o Options) error {
	stored, err := settings.Setting(ctx, settingName)
	if err != nil {
		return fmt.Errorf("read the record of the sealing key: %w", err)
	}
	by, err := o.material(true)
	if err != nil {
		return err
	}
	if _, err := unwrapAny(stored, by); err != nil {
		return err
	}
	return put(ctx, settings, previousName, []byte{})
}

// Rotating reports whether a rotation was begun and not finished.
func Rotating(ctx context.Context, settings Settings) (bool, error) {
	previous, err := settings.Setting(ctx, previousName)
	return len(previous) > 0, err
}

// unwrapAny returns the ring of a record, or ErrWrongKey.
func unwrapAny(stored []byte, by *material) ([]byte, error) {
	r, err := parseRecord(stored)
	switch {
	case err != nil:
		return nil, err
	case r.kind == recordPlain:
		return r.key, nil
	case by == nil:
		return nil, ErrNoKey
	}
	ring, err := r.unwrap(*by)
	if errors.Is(err, errWrongKey) {
		return nil, ErrWrongKey
	}
	return ring, err
}

// put stores a value whatever was stored before.
func put(ctx context.Context, settings Settings, key string, value []byte) error {
	for {
		now, err := settings.InitSetting(ctx, key, value)
		if err != nil || bytes.Equal(now, value) {
			return err
		}
		if swapped, err := settings.CompareAndSwapSetting(ctx, key, now, value); err != nil || swapped {
			return err
		}
	}
}
