package secret

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

var errKilled = errors.New("killed")

// killedSettings fails after a number of changes, as a process that was killed.
type killedSettings struct {
	*fakeSettings
	left int
}

func (k *killedSettings) InitSetting(ctx context.Context, key string, value []byte) ([]byte, error) {
	if k.left--; k.left < 0 {
		return nil, errKilled
	}
	return k.fakeSettings.InitSetting(ctx, key, value)
}

func (k *killedSettings) CompareAndSwapSetting(ctx context.Context, key string, old, value []byte) (bool, error) {
	if k.left--; k.left < 0 {
		return false, errKilled
	}
	return k.fakeSettings.CompareAndSwapSetting(ctx, key, old, value)
}

const (
	oldKey = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	newKey = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"
)

// Wherever a rotation is interrupted, the old key opens the database and a second call
// completes it. Both keys are valid until it is finished.
func TestRotationSurvivesInterruptions(t *testing.T) {
	t.Parallel()
	for steps := range 4 {
		settings := newFakeSettings()
		before := open(t, settings, Options{Key: oldKey})
		sealed := before.Seal("label", []byte("secret"))
		err := Rotate(t.Context(), &killedSettings{settings, steps}, Options{Key: oldKey}, newKey)
		if err != nil && !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		wantOpens(t, open(t, settings, Options{Key: oldKey}), sealed)
		if err := Rotate(t.Context(), settings, Options{Key: oldKey}, newKey); err != nil {
			t.Fatal(err)
		}
		after := open(t, settings, Options{Key: newKey})
		wantOpens(t, after, sealed)
		again := after.Seal("label", []byte("secret"))
		if !after.Newest(again) || after.Newest(sealed) {
			t.Error("the new secret is not encrypted with the newest key, or the old one is")
		}
		wantOpens(t, before, again) // it reads the keys again
		wantOpens(t, open(t, settings, Options{Key: oldKey}), again)
		if err := Finish(t.Context(), settings, Options{Key: oldKey}); !errors.Is(err, ErrWrongKey) {
			t.Errorf("finished with the old key: %v", err)
		}
		if err := Finish(t.Context(), settings, Options{Key: newKey}); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), settings, Options{Key: oldKey}); !errors.Is(err, ErrWrongKey) {
			t.Errorf("the old key after the end: %v", err)
		}
		wantOpens(t, open(t, settings, Options{Key: newKey}), sealed)
	}
}

func wantOpens(t *testing.T, b *Box, sealed []byte) {
	t.Helper()
	if plain, err := b.Open("label", sealed); err != nil || string(plain) != "secret" {
		t.Errorf("opened %q, %v", plain, err)
	}
}

func TestRotationReplacesTheKeyFile(t *testing.T) {
	t.Parallel()
	settings := newFakeSettings()
	o := Options{File: filepath.Join(t.TempDir(), "x.key")}
	sealed := open(t, settings, o).Seal("label", []byte("secret"))
	copied := o.File + ".copy"
	if err := CopyKeyFile(o.File, copied); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Rotate(t.Context(), settings, o, ""); err != nil {
			t.Fatal(err)
		}
		wantOpens(t, open(t, settings, o), sealed)
	}
	if err := Finish(t.Context(), settings, o); err != nil {
		t.Fatal(err)
	}
	wantOpens(t, open(t, settings, o), sealed)
	if _, err := Open(t.Context(), settings, Options{File: copied}); !errors.Is(err, ErrWrongKey) {
		t.Errorf("the old key file: %v", err)
	}
}

// A database without a key gets one, and the servers that run without it go on.
func TestRotationProtectsAnUnprotectedDatabase(t *testing.T) {
	t.Parallel()
	settings := newFakeSettings()
	before := open(t, settings, Options{AllowUnprotected: true})
	if err := Rotate(t.Context(), settings, Options{AllowUnprotected: true}, newKey); err != nil {
		t.Fatal(err)
	}
	wantOpens(t, before, open(t, settings, Options{Key: newKey}).Seal("label", []byte("secret")))
	if err := Finish(t.Context(), settings, Options{Key: newKey}); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), settings, Options{AllowUnprotected: true}); !errors.Is(err, ErrNoKey) {
		t.Errorf("without a key after the end: %v", err)
	}
	for _, bad := range []string{"", "short"} {
		if err := Rotate(t.Context(), settings, Options{Key: newKey}, bad); err == nil {
			t.Errorf("the new key %q was accepted", bad)
		}
	}
	if err := Rotate(t.Context(), settings, Options{Key: newKey}, newKey); err == nil {
		t.Error("the old key was accepted as the new one")
	}
}
