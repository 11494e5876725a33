package service

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"

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
	// maxHashes and the memory of one hash bound what sign-ins take together: 128 MiB,
	// or 64 MiB where the process has less than smallMemory.
	maxHashes   = 2
	smallMemory = 1 << 30

	// collectAbove is the memory of a hash, in KiB, above which it is collected at once.
	collectAbove = 16 << 10

	saltBytes = 16
	hashBytes = 32

	// A stored hash that asks for more than this is not ours.
	maxMemory = 1 << 20
	maxPasses = 64
)

// hasher makes and checks password hashes, a limited number at a time.
type hasher struct {
	cost  PasswordCost
	queue *hashQueue
}

// newHasher returns a hasher for a process that may use memoryLimit bytes; 0 means
// that it has no limit.
func newHasher(cost PasswordCost, memoryLimit int64) *hasher {
	slots := maxHashes
	if memoryLimit > 0 && memoryLimit < smallMemory {
		slots = 1
	}
	return &hasher{cost: cmp.Or(cost, DefaultPasswordCost), queue: newHashQueue(slots)}
}

// derive waits for its turn; known is for someone who has signed in before from the
// same device or address. Codes: unavailable.
func (h *hasher) derive(ctx context.Context, in derivation) ([]byte, error) {
	if err := h.queue.acquire(ctx, in.known); err != nil {
		return nil, err
	}
	defer h.queue.release()
	sum := argon2.IDKey([]byte(domain.NormalizePassword(in.password)), in.salt, in.cost.Passes, in.cost.Memory, in.cost.Threads, hashBytes)
	if in.cost.Memory > collectAbove {
		// The next hash must find this one's memory free: left to the collector, 150
		// sign-ins at once took 760 MB instead of the 128 that run at a time.
		runtime.GC()
	}
	return sum, nil
}

// derivation is what a hash is derived from.
type derivation struct {
	password string
	salt     []byte
	cost     PasswordCost
	known    bool
}

// hash returns a new hash as a PHC string. Only people who have proved who they are
// set a password, so it goes before strangers.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // crypto/rand does not fail
	sum, err := h.derive(ctx, derivation{password: password, salt: salt, cost: h.cost, known: true})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.cost.Memory, h.cost.Passes, h.cost.Threads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum)), nil
}

// verify compares a password with a hash. Without a hash it takes the same time and
// reports false. stale means that the hash was made at another cost than new ones.
func (h *hasher) verify(ctx context.Context, stored, password string, known bool) (ok, stale bool, err error) {
	if stored == "" {
		_, err := h.derive(ctx, derivation{password: password, salt: make([]byte, saltBytes), cost: h.cost, known: known})
		return false, false, err
	}
	cost, salt, want, err := parsePHC(stored)
	if err != nil {
		return false, false, err
	}
	got, err := h.derive(ctx, derivation{password: password, salt: salt, cost: cost, known: known})
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
