// Package secret seals the few secrets that must be kept readable (webhook
// signing secrets, one-time-password seeds) before they reach the database, and
// guards the key that seals them. What is only ever compared, such as tokens and
// passwords, is hashed elsewhere and has no business here.
//
// The sealing key is random and made once per database. It lies there wrapped by
// the operator's key, so that the operator's key can change without sealing
// everything anew.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
)

const (
	keySize   = 32
	boxFormat = 1
)

// ErrSealed says that something sealed can't be opened: it was damaged, moved to
// another place, or sealed under another key.
var ErrSealed = errors.New("a sealed secret can not be opened: it was damaged or sealed under another key")

// Box seals and opens. It is safe for use by any number of goroutines.
type Box struct{ aead cipher.AEAD }

func newBox(key []byte) (*Box, error) {
	aead, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	return &Box{aead: aead}, nil
}

// newAEAD is AES-256-GCM with a random nonce before each text: 2^32 texts under
// one key are safe, and an installation seals a few thousand.
func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("make the cipher: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Seal encrypts plain. The label says where it belongs: it opens there only.
func (b *Box) Seal(label string, plain []byte) []byte {
	return b.aead.Seal([]byte{boxFormat}, nil, plain, []byte(label))
}

// Open gives back what was sealed under the label, or ErrSealed.
func (b *Box) Open(label string, sealed []byte) ([]byte, error) {
	if len(sealed) == 0 || sealed[0] != boxFormat {
		return nil, ErrSealed
	}
	plain, err := b.aead.Open(nil, nil, sealed[1:], []byte(label))
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}
