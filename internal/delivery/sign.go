package delivery

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// SecretPrefix starts every signing secret.
const SecretPrefix = "whsec_"

const secretBytes = 32

// ErrSecret tells that a signing secret does not have the form that NewSecret gives it.
var ErrSecret = errors.New("the signing secret is not " + SecretPrefix + " and base64")

// NewSecret makes a signing secret: whsec_ and the base64 of 32 random bytes.
func NewSecret() string {
	var key [secretBytes]byte
	rand.Read(key[:]) // never fails: crypto/rand ends the program instead
	return SecretPrefix + base64.StdEncoding.EncodeToString(key[:])
}

// Signatures are the signing header values of one attempt.
type Signatures struct {
	Service  string // X-Service-Signature
	Previous string // X-Service-Signature-Previous, separated by commas; empty outside a rotation
	Standard string // webhook-signature, separated by spaces; several values during a rotation
}

// Message is what one attempt signs. PreviousSecret holds the secrets that rotations replaced, as
// domain.FormatRetiredSecrets writes them, and is empty outside the overlap.
type Message struct {
	DeliveryID             string
	At                     time.Time
	Body                   []byte
	Secret, PreviousSecret string
}

// Sign returns the signatures of a message.
//
// The two header families key differently: X-Service-Signature uses the secret as shown, Standard Webhooks the bytes
// that its base64 part stands for.
func Sign(m Message) (Signatures, error) {
	timestamp := strconv.FormatInt(m.At.Unix(), 10)
	standard, err := signStandard(m.DeliveryID, timestamp, m.Body, m.Secret)
	if err != nil {
		return Signatures{}, err
	}
	s := Signatures{Service: signService(m.Body, m.Secret), Standard: standard}
	var retired []string
	// The caller has checked that the newest still signs.
	for _, r := range domain.ParseRetiredSecrets(m.PreviousSecret, m.At.Add(time.Second), m.At) {
		standard, err = signStandard(m.DeliveryID, timestamp, m.Body, r.Secret)
		if err != nil {
			return Signatures{}, err
		}
		retired = append(retired, signService(m.Body, r.Secret))
		s.Standard += " " + standard
	}
	s.Previous = strings.Join(retired, ", ")
	return s, nil
}

func signService(body []byte, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	var sum [sha256.Size]byte
	return "sha256=" + hex.EncodeToString(mac.Sum(sum[:0]))
}

func signStandard(id, timestamp string, body []byte, secret string) (string, error) {
	encoded, ok := strings.CutPrefix(secret, SecretPrefix)
	if !ok {
		return "", ErrSecret
	}
	// The decoder's own error is dropped: it would quote a position in the secret.
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) == 0 {
		return "", ErrSecret
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	var sum [sha256.Size]byte
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(sum[:0])), nil
}
