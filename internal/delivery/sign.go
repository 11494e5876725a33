package delivery

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"hash"
	"strconv"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// SecretPrefix starts every signing secret.
const SecretPrefix = "whsec_"

const secretBytes = 32

// ErrSecret is returned for a signing secret that is not in the form that NewSecret generates.
var ErrSecret = errors.New("the signing secret is not " + SecretPrefix + " and base64")

// NewSecret makes a signing secret: whsec_ and the base64 of 32 random bytes.
func NewSecret() string {
	var key [secretBytes]byte
	rand.Read(key[:]) // never fails: crypto/rand ends the program instead
	return SecretPrefix + base64.StdEncoding.EncodeToString(key[:])
}

// Secret is a signing secret that is ready to sign, in any number of goroutines. The HMAC key state is computed once per
// secret: that is a third of the time that it takes to sign an event. Nil signs nothing.
type Secret struct {
	service, standard hash.Cloner // HMACs to which nothing has been written
}

// ParseSecret prepares a secret of the form that NewSecret generates. Its error does not quote the secret.
func ParseSecret(text string) (*Secret, error) {
	encoded, ok := strings.CutPrefix(text, SecretPrefix)
	if !ok {
		return nil, ErrSecret
	}
	// The decoder's own error is dropped: it would quote a position in the secret.
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) == 0 {
		return nil, ErrSecret
	}
	return &Secret{newMAC([]byte(text)), newMAC(key)}, nil
}

// newMAC returns an HMAC. Reset caches the key state, so that a clone need not hash the key again.
func newMAC(key []byte) hash.Cloner {
	mac := hmac.New(sha256.New, key)
	mac.Reset()
	return mac.(hash.Cloner) // as every hash of the standard library
}

// sum returns the HMAC of the parts.
func sum(mac hash.Cloner, parts ...[]byte) []byte {
	h, err := mac.Clone()
	if err != nil {
		panic(err) // the hashes of the standard library can be cloned
	}
	for _, part := range parts {
		h.Write(part)
	}
	return h.Sum(nil)
}

// Signatures are the signing header values of one attempt.
type Signatures struct {
	Service  string // X-Service-Signature
	Previous string // X-Service-Signature-Previous, separated by commas; empty outside a rotation
	Standard string // webhook-signature, separated by spaces; several values during a rotation
}

// Message is what one attempt signs.
type Message struct {
	DeliveryID     string
	At             time.Time
	Body           []byte
	Secret         *Secret
	RetiredSecrets []domain.RetiredSecret // those that rotations replaced; each signs until its end
}

// Sign returns the signatures of a message.
//
// The two header families key differently: X-Service-Signature uses the secret as shown, Standard Webhooks the bytes
// that its base64 part stands for.
func Sign(m Message) (Signatures, error) {
	if m.Secret == nil {
		return Signatures{}, ErrSecret
	}
	s := Signatures{Service: signService(&m, m.Secret), Standard: signStandard(&m, m.Secret)}
	var retired []string
	for _, r := range m.RetiredSecrets {
		if !m.At.Before(r.Until) {
			continue
		}
		secret, err := ParseSecret(r.Secret)
		if err != nil {
			return Signatures{}, err
		}
		retired = append(retired, signService(&m, secret))
		s.Standard += " " + signStandard(&m, secret)
	}
	s.Previous = strings.Join(retired, ", ")
	return s, nil
}

func signService(m *Message, secret *Secret) string {
	return "sha256=" + hex.EncodeToString(sum(secret.service, m.Body))
}

func signStandard(m *Message, secret *Secret) string {
	head := m.DeliveryID + "." + strconv.FormatInt(m.At.Unix(), 10) + "."
	return "v1," + base64.StdEncoding.EncodeToString(sum(secret.standard, []byte(head), m.Body))
}
