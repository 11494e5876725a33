package secret

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// fakeSettings keeps settings in memory.
type fakeSettings struct {
	mu   sync.Mutex
	rows map[string][]byte
}

func newFakeSettings() *fakeSettings { return &fakeSettings{rows: map[string][]byte{}} }

func (t *fakeSettings) Setting(_ context.Context, key string) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rows[key], nil
}

func (t *fakeSettings) InitSetting(_ context.Context, key string, value []byte) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rows[key] == nil {
		t.rows[key] = value
	}
	return t.rows[key], nil
}

func (t *fakeSettings) CompareAndSwapSetting(_ context.Context, key string, old, value []byte) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !bytes.Equal(t.rows[key], old) {
		return false, nil
	}
	t.rows[key] = value
	return true, nil
}

func open(t *testing.T, s Settings, o Options) *Box {
	t.Helper()
	b, err := Open(t.Context(), s, o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return b
}

func TestSealedOpensUnderItsLabelOnly(t *testing.T) {
	t.Parallel()
	b := open(t, newFakeSettings(), Options{Key: "correct horse battery"})
	sealed := b.Seal("webhook/1", []byte("whsec_x"))
	if again := b.Seal("webhook/1", []byte("whsec_x")); bytes.Equal(sealed, again) || bytes.Contains(sealed, []byte("whsec")) {
		t.Error("the sealed bytes contain the secret")
	}
	if plain, err := b.Open("webhook/1", sealed); err != nil || string(plain) != "whsec_x" {
		t.Errorf("opened %q, %v", plain, err)
	}
	damaged := bytes.Clone(sealed)
	damaged[len(damaged)-1] ^= 1
	for name, try := range map[string]struct {
		label  string
		sealed []byte
	}{
		"another company": {"webhook/2", sealed}, "damaged": {"webhook/1", damaged}, "empty": {"webhook/1", nil},
		"another format": {"webhook/1", append([]byte{9}, sealed[1:]...)},
	} {
		if _, err := b.Open(try.label, try.sealed); !errors.Is(err, ErrSealed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKeyForms(t *testing.T) {
	t.Parallel()
	raw := bytes.Repeat([]byte{0xfb, 0xff}, 16)
	settings := newFakeSettings()
	sealed := open(t, settings, Options{Key: hex.EncodeToString(raw)}).Seal("l", []byte("x"))
	for name, text := range map[string]string{
		"base64": base64.StdEncoding.EncodeToString(raw), "url": base64.URLEncoding.EncodeToString(raw),
		"unpadded": base64.RawStdEncoding.EncodeToString(raw), "HEX": strings.ToUpper(hex.EncodeToString(raw)), "line": hex.EncodeToString(raw) + "\n",
	} {
		if plain, err := open(t, settings, Options{Key: text}).Open("l", sealed); err != nil || string(plain) != "x" {
			t.Errorf("%s: %q, %v", name, plain, err)
		}
	}
	for _, text := range []string{"short", strings.Repeat("x", minPassphrase-1)} {
		if _, err := Open(t.Context(), newFakeSettings(), Options{Key: text}); err == nil || !strings.Contains(err.Error(), Env) {
			t.Errorf("key %q: %v", text, err)
		}
	}
}

func TestWrongKeyIsRefused(t *testing.T) {
	t.Parallel()
	settings := newFakeSettings()
	open(t, settings, Options{Key: "the first passphrase"})
	open(t, settings, Options{Key: "the first passphrase"})
	if _, err := Open(t.Context(), settings, Options{Key: "the second passphrase"}); !errors.Is(err, ErrWrongKey) {
		t.Errorf("another key: %v", err)
	}
	if _, err := Open(t.Context(), settings, Options{}); !errors.Is(err, ErrNoKey) {
		t.Errorf("no key: %v", err)
	}
	if _, err := Open(t.Context(), settings, Options{AllowUnprotected: true}); !errors.Is(err, ErrNoKey) {
		t.Errorf("no key where there was one: %v", err)
	}
	settings.rows[settingName] = settings.rows[settingName][:5]
	if _, err := Open(t.Context(), settings, Options{Key: "the first passphrase"}); err == nil {
		t.Error("a damaged record was accepted")
	}
}

func TestKeyFileIsMadeOnce(t *testing.T) {
	t.Parallel()
	settings, path := newFakeSettings(), filepath.Join(t.TempDir(), "test.db.key")
	sealed := open(t, settings, Options{File: path}).Seal("l", []byte("x"))
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("key file %v, %v", info, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("%d files are left, %v", len(entries), err)
	}
	if _, err := open(t, settings, Options{File: path}).Open("l", sealed); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, settings, Options{Key: string(text), File: path + ".other"}).Open("l", sealed); err != nil {
		t.Errorf("the file's content as the key: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), settings, Options{File: path}); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("the key file is gone: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a new key file was made for a database that needs the old one")
	}
}

func TestConcurrentStartsAgreeOnOneKey(t *testing.T) {
	t.Parallel()
	settings, path := newFakeSettings(), filepath.Join(t.TempDir(), "test.db.key")
	boxes := make([]*Box, 8)
	var wg sync.WaitGroup
	for i := range boxes {
		wg.Go(func() {
			var err error
			if boxes[i], err = Open(t.Context(), settings, Options{File: path}); err != nil {
				t.Errorf("open: %v", err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	sealed := boxes[0].Seal("l", []byte("x"))
	for _, b := range boxes {
		if _, err := b.Open("l", sealed); err != nil {
			t.Error(err)
		}
	}
}

func TestPlainKeyIsWrappedOnceThereIsAKey(t *testing.T) {
	t.Parallel()
	settings := newFakeSettings()
	sealed := open(t, settings, Options{AllowUnprotected: true}).Seal("l", []byte("x"))
	if _, err := open(t, settings, Options{Key: "the first passphrase"}).Open("l", sealed); err != nil {
		t.Error(err)
	}
	if settings.rows[settingName][0] != recordWrapped {
		t.Error("the sealing key is still unprotected")
	}
	if _, err := Open(t.Context(), settings, Options{Key: "the second passphrase"}); !errors.Is(err, ErrWrongKey) {
		t.Errorf("another key: %v", err)
	}
}
