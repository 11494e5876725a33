// Package secret encrypts the few secrets that must stay readable (webhook signing
// secrets, one-time-password seeds) before they reach the database, and protects
// the key for it. What is only compared, such as tokens and passwords, is hashed
// elsewhere.
//
// The sealing key is random and made once per database. It is stored there,
// wrapped by the operator's key, so that the operator's key can change without
// encrypting every secret again.
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

// ErrSealed reports a secret that cannot be decrypted: it was damaged, moved to
// another label, or encrypted with another key.
var ErrSealed = errors.New("a secret cannot be decrypted: it was damaged or encrypted with another key")

// Box encrypts and decrypts secrets. It is safe for concurrent use.
type Box struct{ aead cipher.AEAD }

func newBox(key []byte) (*Box, error) {
	aead, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	return &Box{aead: aead}, nil
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
	return b.aead.Seal([]byte{boxFormat}, nil, plain, []byte(label))
}

// Open decrypts what was encrypted under the label, or returns ErrSealed.
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
