// Package secret encrypts the few secrets that must stay readable (webhook signing
// secrets, one-time-password seeds) before they reach the database, and protects
// the key for it. What is only compared, such as tokens and passwords, is hashed
// elsewhere.
//
// The sealing keys are random. The first is made with the database, another at each
// rotation. They are stored there as one ring, wrapped by the operator's key.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	keySize = 32
	// boxFormat begins a secret that the first sealing key has encrypted. With a later
	// key it begins with laterFormat and the key's position in the ring.
	boxFormat   = 1
	laterFormat = 2
	maxRing     = 200
)

// ErrSealed reports a secret that cannot be decrypted: it was damaged, moved to
// another label, or encrypted with another key.
var ErrSealed = errors.New("a secret cannot be decrypted: it was damaged or encrypted with another key")

// Box encrypts with the newest sealing key of the database and decrypts with all of
// them. It is safe for concurrent use.
type Box struct {
	ring atomic.Pointer[[]cipher.AEAD]
	// reload reads the sealing keys again, because another process may have added one.
	reload func() ([]byte, error)

	reloading    sync.Mutex // held while OpenUntrusted reads the keys again
	lastReloaded time.Time  // when it last did; guarded by reloading
}

// untrustedReload is how often bytes of strangers may make the box read the sealing keys
// again. It takes a query and, if the operator's key is a passphrase, 32 MiB to stretch it.
const untrustedReload = 10 * time.Second

// newBox returns a box with the sealing keys of a ring, oldest first.
func newBox(ring []byte, reload func() ([]byte, error)) (*Box, error) {
	b := &Box{reload: reload}
	return b, b.use(ring)
}

func (b *Box) use(ring []byte) error {
	var keys []cipher.AEAD
	for key := range slices.Chunk(ring, keySize) {
		aead, err := newAEAD(key)
		if err != nil {
			return err
		}
		keys = append(keys, aead)
	}
	b.ring.Store(&keys)
	return nil
}

// newAEAD returns AES-256-GCM with random nonces: 2^32 messages per key are safe,
// and an installation encrypts a few thousand.
func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("make the cipher: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Seal encrypts plain. It can be decrypted only under the same label.
func (b *Box) Seal(label string, plain []byte) []byte {
	keys := *b.ring.Load()
	newest := len(keys) - 1
	prefix := []byte{boxFormat}
	if newest > 0 {
		prefix = []byte{laterFormat, byte(newest)}
	}
	return keys[newest].Seal(prefix, nil, plain, []byte(label))
}

// Open decrypts what was encrypted under the label, or returns ErrSealed.
func (b *Box) Open(label string, sealed []byte) ([]byte, error) {
	if position, _, ok := split(sealed); ok && position >= len(*b.ring.Load()) {
		if err := b.reloadRing(); err != nil {
			return nil, err
		}
	}
	return b.openKnown(label, sealed)
}

// OpenUntrusted is Open for bytes that anybody may have made, such as those of a cookie.
// A key that another process has added may be unknown for untrustedReload: otherwise
// everybody could make the box read its keys again with every request.
func (b *Box) OpenUntrusted(label string, sealed []byte) ([]byte, error) {
	position, _, ok := split(sealed)
	if ok && position >= len(*b.ring.Load()) && b.reloading.TryLock() {
		defer b.reloading.Unlock()
		if time.Since(b.lastReloaded) >= untrustedReload {
			b.lastReloaded = time.Now()
			if err := b.reloadRing(); err != nil {
				return nil, err
			}
		}
	}
	return b.openKnown(label, sealed)
}

func (b *Box) reloadRing() error {
	ring, err := b.reload()
	if err != nil {
		return fmt.Errorf("read the sealing keys again: %w", err)
	}
	return b.use(ring)
}

// openKnown decrypts with the keys that the box has.
func (b *Box) openKnown(label string, sealed []byte) ([]byte, error) {
	position, text, ok := split(sealed)
	keys := *b.ring.Load()
	if !ok || position >= len(keys) {
		return nil, ErrSealed
	}
	plain, err := keys[position].Open(nil, nil, text, []byte(label))
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}

// Newest reports whether a secret is encrypted with the newest sealing key.
func (b *Box) Newest(sealed []byte) bool {
	position, _, ok := split(sealed)
	return ok && position == len(*b.ring.Load())-1
}

// split returns the position of the sealing key in the ring, and the encrypted text.
func split(sealed []byte) (position int, text []byte, ok bool) {
	switch {
	case len(sealed) > 1 && sealed[0] == boxFormat:
		return 0, sealed[1:], true
	case len(sealed) > 2 && sealed[0] == laterFormat:
		return int(sealed[1]), sealed[2:], true
	}
	return 0, nil, false
}
