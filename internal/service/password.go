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

// PasswordCost holds the argon2id parameters, which decide the memory and the time
// that a hash takes.
type PasswordCost struct {
	Memory  uint32 // KiB
	Passes  uint32
	Threads uint8
}

// DefaultPasswordCost uses more memory than OWASP recommends (19 MiB, two passes);
// a hash takes about a tenth of a second. A stored hash of another cost is replaced
// when its owner next signs in.
var DefaultPasswordCost = PasswordCost{Memory: 64 << 10, Passes: 2, Threads: 1}

const (
	// maxParallelHashes limits the memory of all sign-ins together to 128 MiB at the
	// default cost. A process whose memory limit is below lowMemory, in bytes,
	// computes one hash at a time, which takes 64 MiB.
	maxParallelHashes = 2
	lowMemory         = 1 << 30

	// collectAbove is in KiB. After a hash that took more memory, the garbage
	// collector runs at once.
	collectAbove = 16 << 10

	saltBytes = 16
	hashBytes = 32

	// A stored hash with a higher cost was not made by this program. It is refused
	// instead of computed.
	maxStoredMemory = 1 << 20 // KiB
	maxStoredPasses = 64
)

// hasher computes and verifies password hashes, a limited number at a time.
type hasher struct {
	cost  PasswordCost
	queue *hashQueue
}

// newHasher returns a hasher for a process that may use memoryLimit bytes; 0 means
// no limit.
func newHasher(cost PasswordCost, memoryLimit int64) *hasher {
	slots := maxParallelHashes
	if memoryLimit > 0 && memoryLimit < lowMemory {
		slots = 1
	}
	return &hasher{cost: cmp.Or(cost, DefaultPasswordCost), queue: newHashQueue(slots)}
}

// derive waits for a slot in the queue and returns the raw argon2id hash. Codes:
// unavailable.
func (h *hasher) derive(ctx context.Context, in hashInput) ([]byte, error) {
	if err := h.queue.acquire(ctx, in.known); err != nil {
		return nil, err
	}
	defer h.queue.release()
	sum := argon2.IDKey([]byte(domain.NormalizePassword(in.password)), in.salt, in.cost.Passes, in.cost.Memory, in.cost.Threads, hashBytes)
	if in.cost.Memory > collectAbove {
		// Free this hash's memory before the next hash starts. Without this call, 150
		// concurrent sign-ins took 760 MB instead of the 128 MiB that the slots allow.
		runtime.GC()
	}
	return sum, nil
}

// hashInput holds the arguments of derive.
type hashInput struct {
	password string
	salt     []byte
	cost     PasswordCost
	known    bool // someone signed in before from this device or address; goes first in the queue
}

// hash returns a new hash of the password as a PHC string. Only people who have
// proved their identity set a password, so the queue treats them as known.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // crypto/rand does not fail
	sum, err := h.derive(ctx, hashInput{password: password, salt: salt, cost: h.cost, known: true})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.cost.Memory, h.cost.Passes, h.cost.Threads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum)), nil
}

// verify reports whether a password matches a stored hash. If stored is empty, it
// takes as long as for a hash and reports false, so that the time does not disclose
// whether there is one. stale means that the hash has another cost than new hashes.
func (h *hasher) verify(ctx context.Context, stored, password string, known bool) (ok, stale bool, err error) {
	if stored == "" {
		_, err := h.derive(ctx, hashInput{password: password, salt: make([]byte, saltBytes), cost: h.cost, known: known})
		return false, false, err
	}
	cost, salt, want, err := parsePHC(stored)
	if err != nil {
		return false, false, err
	}
	got, err := h.derive(ctx, hashInput{password: password, salt: salt, cost: cost, known: known})
	if err != nil {
		return false, false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1, cost != h.cost, nil
}

var errUnreadableHash = errors.New("a stored password hash can't be read")

// parsePHC parses a stored hash: $argon2id$v=VERSION$m=MEMORY,t=PASSES,p=THREADS$SALT$SUM.
func parsePHC(text string) (cost PasswordCost, salt, sum []byte, err error) {
	parts := strings.Split(text, "$")
	var version int
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return cost, nil, nil, errUnreadableHash
	}
	if _, err := fmt.Sscanf(parts[2], "v=%d", &version); err != nil || version != argon2.Version {
		return cost, nil, nil, errUnreadableHash
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &cost.Memory, &cost.Passes, &cost.Threads); err != nil {
		return cost, nil, nil, errUnreadableHash
	}
	if cost.Memory > maxStoredMemory || cost.Passes < 1 || cost.Passes > maxStoredPasses || cost.Threads < 1 {
		return cost, nil, nil, errUnreadableHash
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	sum, sumErr := base64.RawStdEncoding.DecodeString(parts[5])
	if saltErr != nil || sumErr != nil || len(sum) != hashBytes {
		return cost, nil, nil, errUnreadableHash
	}
	return cost, salt, sum, nil
}
