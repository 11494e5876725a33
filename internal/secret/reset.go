package secret

import (
	"context"
	"errors"
	"fmt"
)

// Lost reports whether the operator's key does not open the sealing keys: what was
// encrypted with them cannot be read.
func Lost(ctx context.Context, settings Settings, o Options) (bool, error) {
	stored, err := settings.Setting(ctx, settingName)
	if err != nil || stored == nil {
		return false, err
	}
	_, err = readRing(ctx, settings, o)
	if errors.Is(err, ErrWrongKey) || errors.Is(err, ErrNoKey) || errors.Is(err, errNoKeyFile) || errors.Is(err, errRecord) {
		return true, nil
	}
	return false, err
}

// Reset replaces sealing keys that are lost by a new one, wrapped by the key that o
// names, or by one that it writes to the key file.
func Reset(ctx context.Context, settings Settings, o Options) error {
	if o.Key == "" && o.File == "" {
		return fmt.Errorf("a new key is missing: %w", ErrNoKey)
	}
	stored, err := settings.Setting(ctx, settingName)
	if err != nil {
		return fmt.Errorf("read the record of the sealing key: %w", err)
	}
	by, err := o.material(false)
	if err != nil {
		return err
	}
	fresh, err := wrap(randomBytes(keySize), by)
	if err != nil {
		return err
	}
	if err := put(ctx, settings, previousName, []byte{}); err != nil {
		return err
	}
	swapped, err := settings.CompareAndSwapSetting(ctx, settingName, stored, fresh.bytes())
	if err == nil && !swapped {
		err = errors.New("another process has changed the key meanwhile; run the command again")
	}
	return err
}
