package secret

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// A stranger who sends made-up cookies that name unknown keys makes the box read its keys
// at most once in ten seconds. A key that another process has added is known after that.
func TestStrangersDoNotReloadTheKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ring, loads := bytes.Repeat([]byte{7}, keySize), 0
		box, err := newBox(bytes.Clone(ring), func() ([]byte, error) { loads++; return ring, nil })
		if err != nil {
			t.Fatal(err)
		}
		forged := append([]byte{laterFormat, 150}, make([]byte, 60)...)
		for range 100 {
			if _, err := box.OpenUntrusted("device", forged); err == nil {
				t.Fatal("a made-up cookie is accepted")
			}
		}
		if loads != 1 {
			t.Errorf("100 made-up cookies made the box read its keys %d times, want once", loads)
		}
		ring = append(ring, bytes.Repeat([]byte{8}, keySize)...)
		other, err := newBox(ring, nil)
		if err != nil {
			t.Fatal(err)
		}
		sealed := other.Seal("device", []byte("cookie"))
		time.Sleep(untrustedReload)
		if plain, err := box.OpenUntrusted("device", sealed); err != nil || string(plain) != "cookie" {
			t.Errorf("a cookie of another process: %q, %v", plain, err)
		}
		if loads != 2 {
			t.Errorf("the keys were read %d times, want twice", loads)
		}
	})
}

// Cookies hold what a box has sealed. Bytes that it has not sealed, or not for this
// purpose, are refused.
func FuzzOpenUntrusted(f *testing.F) {
	ring := bytes.Repeat([]byte{7}, 2*keySize)
	box, err := newBox(ring, func() ([]byte, error) { return ring, nil })
	if err != nil {
		f.Fatal(err)
	}
	sealed := box.Seal("device", []byte("{}"))
	for _, seed := range [][]byte{nil, {boxFormat}, {laterFormat}, {laterFormat, 1}, {laterFormat, 250, 1}, sealed, sealed[:len(sealed)-1]} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if plain, err := box.OpenUntrusted("sign-in", in); err == nil {
			t.Errorf("%x is opened as %q under another label", in, plain)
		}
		if plain, err := box.OpenUntrusted("device", in); err == nil && string(plain) != "{}" { // which the processes of the fuzzer seal
			t.Errorf("%x is opened as %q although it was not sealed", in, plain)
		}
	})
}
