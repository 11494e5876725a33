package domain

import (
	"strconv"
	"strings"
	"time"
)

// SecretRotation replaces the signing secret of an endpoint.
type SecretRotation struct {
	Secret SealedSecret // the new one
	// Previous holds all secrets that keep signing, as FormatRetiredSecrets writes
	// them, if Replaced is still the endpoint's secret. Otherwise, or if it is empty,
	// only the secret that is replaced keeps signing.
	Previous, Replaced SealedSecret
}

// RetiredSecret is a signing secret that was replaced and still signs for a while.
type RetiredSecret struct {
	Secret string
	Until  time.Time
}

// FormatRetiredSecrets writes secrets as one text, the newest first. The newest has
// no time of its own: the endpoint keeps it. So a single one is written as it is.
func FormatRetiredSecrets(list []RetiredSecret) string {
	words := make([]string, len(list))
	for i, r := range list {
		words[i] = r.Secret
		if i > 0 {
			words[i] += "," + strconv.FormatInt(r.Until.Unix(), 10)
		}
	}
	return strings.Join(words, " ")
}

// ParseRetiredSecrets reads what FormatRetiredSecrets wrote and returns the secrets
// that still sign at the given time; until is that of the newest.
func ParseRetiredSecrets(text string, until, at time.Time) []RetiredSecret {
	var out []RetiredSecret
	for _, word := range strings.Fields(text) {
		r := RetiredSecret{Secret: word, Until: until}
		if secret, unix, found := strings.Cut(word, ","); found {
			seconds, err := strconv.ParseInt(unix, 10, 64)
			if err != nil {
				continue
			}
			r = RetiredSecret{Secret: secret, Until: time.Unix(seconds, 0).UTC()}
		}
		if at.Before(r.Until) {
			out = append(out, r)
		}
	}
	return out
}
