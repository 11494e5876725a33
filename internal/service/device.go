package service

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// The labels of what SignIn hands out sealed: nobody can make one up, and one
// cannot be passed off as the other.
const (
	deviceLabel = "signed-in device"
	begunLabel  = "begun sign-in"
)

// DeviceLifetime is how long a device is known after its last sign-in.
const DeviceLifetime = 180 * 24 * time.Hour

// begunLifetime is how long a sign-in waits for the second factor.
const begunLifetime = 10 * time.Minute

// device is the content of the cookie that a device gets when someone has signed in
// with it.
type device struct {
	Account string    `json:"account"` // digest of the address that signed in
	ID      string    `json:"id"`
	Until   time.Time `json:"until"`
}

// DeviceToken returns the value of the cookie that makes this device known to the
// account: its attempts are counted apart from those of strangers, who therefore
// cannot lock the account's owner out.
func (s *SignIn) DeviceToken(email string) string {
	digest := domain.AccountDigest(email)
	return s.seal(deviceLabel, device{Account: hex.EncodeToString(digest[:]), ID: rand.Text(), Until: s.now().Add(DeviceLifetime)})
}

// knownDevice returns the id of a device that has signed in to the account before.
func (s *SignIn) knownDevice(token, email string) (id string, ok bool) {
	var d device
	digest := domain.AccountDigest(email)
	if !s.open(deviceLabel, token, &d) || d.Account != hex.EncodeToString(digest[:]) || !s.now().Before(d.Until) {
		return "", false
	}
	return d.ID, true
}

// begunSignIn is a sign-in whose password was right and whose code is awaited.
type begunSignIn struct {
	AdministratorID int64     `json:"administrator"`
	Password        string    `json:"password"` // digest of the password's hash
	Until           time.Time `json:"until"`
}

func (s *SignIn) seal(label string, content any) string {
	text, err := json.Marshal(content)
	if err != nil {
		panic(err) // the types here can always be encoded
	}
	return base64.RawURLEncoding.EncodeToString(s.box.Seal(label, text))
}

func (s *SignIn) open(label, token string, into any) bool {
	sealed, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(sealed) == 0 {
		return false
	}
	text, err := s.box.OpenUntrusted(label, sealed)
	return err == nil && json.Unmarshal(text, into) == nil
}
