package secret

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/scrypt"
)

// Env is the variable that holds the operator's key.
const Env = "COURSEBRIDGE_SECRET_KEY"

const minPassphrase = 16

// material is the operator's key: 32 bytes or a passphrase.
type material struct {
	raw        []byte
	passphrase string
}

// parseKey parses 32 bytes in base64 or hex, or a passphrase.
func parseKey(text string) (material, error) {
	text = strings.TrimSpace(text)
	if raw, err := hex.DecodeString(text); err == nil && len(raw) == keySize {
		return material{raw: raw}, nil
	}
	for _, encoding := range []*base64.Encoding{
		base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding,
	} {
		if raw, err := encoding.DecodeString(text); err == nil && len(raw) == keySize {
			return material{raw: raw}, nil
		}
	}
	if utf8.RuneCountInString(text) < minPassphrase {
		return material{}, fmt.Errorf("it must be 32 bytes in base64 or hex (openssl rand -base64 32 makes one), "+
			"or a passphrase of at least %d characters", minPassphrase)
	}
	return material{passphrase: text}, nil
}

// wrapping derives the key that wraps the sealing key of the database with this
// salt. Passphrases are stretched; 32 random bytes need no stretching.
func (m material) wrapping(salt []byte) ([]byte, error) {
	if m.raw != nil {
		return hkdf.Key(sha256.New, m.raw, salt, "coursebridge wrapping key", keySize)
	}
	return scrypt.Key([]byte(m.passphrase), salt, 1<<15, 8, 1, keySize)
}

// A record is stored in the database: its kind, a salt, and the sealing key, which
// is wrapped unless there never was an operator's key.
const (
	recordWrapped = 1
	recordPlain   = 2
	saltSize      = 16
)

var errRecord = errors.New("the record of the sealing key is damaged: restore a backup, or see coursebridge secret-key reset --help")

type record struct {
	kind byte
	salt []byte
	key  []byte
}

func parseRecord(in []byte) (record, error) {
	if len(in) <= 1+saltSize {
		return record{}, errRecord
	}
	r := record{kind: in[0], salt: in[1 : 1+saltSize], key: in[1+saltSize:]}
	if r.kind != recordWrapped && (r.kind != recordPlain || !isRing(r.key)) {
		return record{}, errRecord
	}
	return r, nil
}

// isRing reports whether the bytes are one or more keys.
func isRing(keys []byte) bool { return len(keys) > 0 && len(keys)%keySize == 0 }

func (r record) bytes() []byte {
	out := append([]byte{r.kind}, r.salt...)
	return append(out, r.key...)
}

const wrapLabel = "coursebridge sealing key"

// wrap returns the record of a sealing key, unprotected if there is no operator's key.
func wrap(sealing []byte, by *material) (record, error) {
	r := record{kind: recordPlain, salt: randomBytes(saltSize), key: sealing}
	if by == nil {
		return r, nil
	}
	key, err := by.wrapping(r.salt)
	if err != nil {
		return record{}, fmt.Errorf("derive the wrapping key: %w", err)
	}
	aead, err := newAEAD(key)
	if err != nil {
		return record{}, err
	}
	r.kind, r.key = recordWrapped, aead.Seal(nil, nil, sealing, []byte(wrapLabel))
	return r, nil
}

// unwrap returns the sealing key, or errWrongKey.
func (r record) unwrap(by material) ([]byte, error) {
	key, err := by.wrapping(r.salt)
	if err != nil {
		return nil, fmt.Errorf("derive the wrapping key: %w", err)
	}
	aead, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	sealing, err := aead.Open(nil, nil, r.key, []byte(wrapLabel))
	if err != nil || !isRing(sealing) {
		return nil, errWrongKey
	}
	return sealing, nil
}

var errWrongKey = errors.New("wrong key")

func randomBytes(n int) []byte {
	out := make([]byte, n)
	rand.Read(out) // it never fails: crypto/rand ends the program instead
	return out
}

// CheckKey returns an error if the text cannot be an operator's key.
func CheckKey(text string) error {
	_, err := parseKey(text)
	return err
}
