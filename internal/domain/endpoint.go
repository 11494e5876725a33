package domain

import (
	"errors"
	"slices"
	"time"
)

// Limits of webhook endpoints.
const (
	MaxEndpoints   = 100
	MaxEndpointURL = 2048
	SecretOverlap  = 24 * time.Hour
	FailingLimit   = 5 * 24 * time.Hour
)

// DisabledReason says why an endpoint gets nothing.
type DisabledReason string

// The reasons.
const (
	DisabledByPerson  DisabledReason = "by_person"
	DisabledByGone    DisabledReason = "gone"
	DisabledByFailing DisabledReason = "failing"
)

// Endpoint is where a company wants its events sent.
type Endpoint struct {
	CompanyID      int64
	ID             int64
	URL            string
	Description    string
	Events         []EventKind
	CreatedAt      time.Time
	CreatedBy      string
	DisabledAt     *time.Time
	DisabledReason DisabledReason
	FailingSince   *time.Time
	Secret         SealedSecret
	Previous       SealedSecret
	PreviousUntil  *time.Time
}

// SealedSecret is a webhook secret encrypted at rest.
type SealedSecret []byte

// Enabled says whether events are sent.
func (e Endpoint) Enabled() bool { return e.DisabledAt == nil }

// Wants says whether the endpoint subscribed to a kind.
func (e Endpoint) Wants(k EventKind) bool { return slices.Contains(e.Events, k) }

// CheckEvents refuses an empty or unknown subscription and folds repeats.
func CheckEvents(kinds []EventKind) ([]EventKind, error) {
	if len(kinds) == 0 {
		return nil, errors.New("must name at least one event")
	}
	var out []EventKind
	for _, k := range kinds {
		if err := CheckEventKind(k); err != nil {
			return nil, err
		}
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out, nil
}

// ErrEndpointNotFound says that the company has no such endpoint.
var ErrEndpointNotFound = Errorf(CodeNotFound, "There is no such webhook.")
