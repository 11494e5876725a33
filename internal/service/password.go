package service

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// PasswordCost is what one argon2id hash costs.
type PasswordCost struct {
	Memory  uint32 // KiB
	Passes  uint32
	Threads uint8
}

// DefaultPasswordCost is above what OWASP asks for (19 MiB, two passes), and
// takes about a tenth of a second. A stored hash of another cost is replaced at
// the next sign-in.
var DefaultPasswordCost = PasswordCost{Memory: 64 << 10, Passes: 2, Threads: 1}

const (
	// maxHashes bounds the memory that sign-ins can take together.
	maxHashes = 2
	// maxHashWait is how long a sign-in waits for its turn.
	maxHashWait = 10 * time.Second

	saltBytes = 16
	hashBytes = 32

	// A stored hash that asks for more than this is not ours.
	maxMemory = 1 << 20
	maxPasses = 64
)

// hasher makes and checks password hashes, a limited number at a time.
type hasher struct {
	cost  PasswordCost
	slots chan struct{}
}

func newHasher(cost PasswordCost) *hasher {
	if cost == (PasswordCost{}) {
		cost = DefaultPasswordCost
	}
	return &hasher{cost: cost, slots: make(chan struct{}, maxHashes)}
}

// derive waits for its turn. Codes: unavailable.
func (h *hasher) derive(ctx context.Context, password string, salt []byte, cost PasswordCost) ([]byte, error) {
	timer := time.NewTimer(maxHashWait)
	defer timer.Stop()
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		return nil, domain.Errorf(domain.CodeUnavailable, "Too many people are signing in right now. Try again in a moment.")
	}
	defer func() { <-h.slots }()
	return argon2.IDKey([]byte(domain.NormalizePassword(password)), salt, cost.Passes, cost.Memory, cost.Threads, hashBytes), nil
}

// hash returns a new hash as a PHC string.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // crypto/rand does not fail
	sum, err := h.derive(ctx, password, salt, h.cost)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.cost.Memory, h.cost.Passes, h.cost.Threads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum)), nil
}

// verify compares a password with a hash. Without a hash it takes the same time and
// reports false. stale means that the hash was made at another cost than new ones.
func (h *hasher) verify(ctx context.Context, stored, password string) (ok, stale bool, err error) {
	if stored == "" {
		_, err := h.derive(ctx, password, make([]byte, saltBytes), h.cost)
		return false, false, err
	}
	cost, salt, want, err := parsePHC(stored)
	if err != nil {
		return false, false, err
	}
	got, err := h.derive(ctx, password, salt, cost)
	if err != nil {
		return false, false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1, cost != h.cost, nil
}

var errPHC = errors.New("a stored password hash can't be read")

func parsePHC(text string) (cost PasswordCost, salt, sum []byte, err error) {
	parts := strings.Split(text, "$")
	var version int
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return cost, nil, nil, errPHC
	}
	if _, err := fmt.Sscanf(parts[2], "v=%d", &version); err != nil || version != argon2.Version {
		return cost, nil, nil, errPHC
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &cost.Memory, &cost.Passes, &cost.Threads); err != nil {
		return cost, nil, nil, errPHC
	}
	if cost.Memory > maxMemory || cost.Passes < 1 || cost.Passes > maxPasses || cost.Threads < 1 {
		return cost, nil, nil, errPHC
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	sum, sumErr := base64.RawStdEncoding.DecodeString(parts[5])
	if saltErr != nil || sumErr != nil || len(sum) != hashBytes {
		return cost, nil, nil, errPHC
	}
	return cost, salt, sum, nil
}
