package domain

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits of webhook endpoints.
const (
	MaxEndpoints   = 50
	MaxEndpointURL = 2048
	MaxDescription = 255
	SecretOverlap  = 24 * time.Hour
	FailingLimit   = 5 * 24 * time.Hour
)

// DisabledReason explains why an endpoint gets nothing.
type DisabledReason string

// The reasons.
const (
	DisabledByPerson  DisabledReason = "by_person"
	DisabledByGone    DisabledReason = "gone"
	DisabledByFailing DisabledReason = "failing"
)

// EndpointKey names an endpoint across companies.
type EndpointKey struct{ CompanyID, ID int64 }

// String writes the key as it travels between replicas.
func (k EndpointKey) String() string {
	return strconv.FormatInt(k.CompanyID, 10) + ":" + strconv.FormatInt(k.ID, 10)
}

// ParseEndpointKey reads what String wrote.
func ParseEndpointKey(s string) (EndpointKey, error) {
	company, id, _ := strings.Cut(s, ":")
	var k EndpointKey
	var errCompany, errID error
	k.CompanyID, errCompany = strconv.ParseInt(company, 10, 64)
	k.ID, errID = strconv.ParseInt(id, 10, 64)
	if errCompany != nil || errID != nil {
		return EndpointKey{}, fmt.Errorf("%q is not an endpoint key", s)
	}
	return k, nil
}

// Endpoint is where a company wants its events sent.
type Endpoint struct {
	CompanyID      int64
	ID             int64
	URL            string
	Description    string
	Events         []EventKind
	StrictOrder    bool // one delivery at a time, in the order of the events
	CreatedAt      time.Time
	CreatedBy      string
	DisabledAt     *time.Time
	DisabledReason DisabledReason
	FailingSince   *time.Time
	RemovedAt      *time.Time
	Secret         SealedSecret
	Previous       SealedSecret
	PreviousUntil  *time.Time
	Headers        SealedSecret // as EncodeHeaders writes them
	RatePerMinute  int64        // requests at most; 0: any number
}

// SealedSecret is a webhook secret encrypted at rest.
type SealedSecret []byte

// SecretLabel binds a company's sealed webhook secrets to it: moved to another
// company's row, they can't be opened.
func SecretLabel(companyID int64) string { return "webhook/" + strconv.FormatInt(companyID, 10) }

// Key names the endpoint across companies.
func (e Endpoint) Key() EndpointKey { return EndpointKey{CompanyID: e.CompanyID, ID: e.ID} }

// Enabled reports whether events are sent.
func (e Endpoint) Enabled() bool { return e.DisabledAt == nil && e.RemovedAt == nil }

// Rotating reports whether the previous secret still signs at now.
func (e Endpoint) Rotating(now time.Time) bool {
	return len(e.Previous) > 0 && e.PreviousUntil != nil && now.Before(*e.PreviousUntil)
}

// Wants reports whether the endpoint subscribed to a kind.
func (e Endpoint) Wants(k EventKind) bool { return slices.Contains(e.Events, k) }

// Matches reports whether a search finds the endpoint: by its address, with or without
// the scheme, or by its description.
func (e Endpoint) Matches(search string) bool {
	_, address, _ := strings.Cut(e.URL, "://")
	return MatchesSearch(search, e.URL, address, e.Description)
}

// NormalizeEvents refuses an empty or unknown subscription and folds repeats.
func NormalizeEvents(kinds []EventKind) ([]EventKind, error) {
	if len(kinds) == 0 {
		return nil, errors.New("choose at least one event")
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

// EndpointInput is what a person says about an endpoint.
type EndpointInput struct {
	URL         string
	Description string
	Events      []EventKind
	StrictOrder bool

	RatePerMinute int64
	Headers       Headers      // added to every request
	SealedHeaders SealedSecret // what the store keeps of Headers
}

// Normalize normalises the input and reports every field that is wrong, but for
// where the URL leads: that is known at connect time.
func (in *EndpointInput) Normalize() error {
	var c Checks
	var err error
	in.URL = strings.TrimSpace(in.URL)
	if err = checkText(in.URL); err == nil {
		err = checkLength(in.URL, 1, MaxEndpointURL)
	}
	c.Add("url", err)
	in.Description = strings.TrimSpace(in.Description)
	if err = checkText(in.Description); err == nil {
		err = checkLength(in.Description, 0, MaxDescription)
	}
	c.Add("description", err)
	in.Events, err = NormalizeEvents(in.Events)
	c.Add("events", err)
	if in.RatePerMinute < 0 || in.RatePerMinute > MaxRatePerMinute {
		c.Add("rate", fmt.Errorf("enter a whole number from 1 to %d, or leave it empty", MaxRatePerMinute))
	}
	c.Add("headers", CheckHeaders(in.Headers))
	return c.Err()
}

// Answers about endpoints.
var (
	ErrTooManyEndpoints = Errorf(CodeInvalid, "A company can have at most %d webhooks. Remove one that is not needed any more.", MaxEndpoints)
	ErrEndpointDisabled = Errorf(CodeInvalid, "This webhook is disabled. Enable it first; what was held is kept meanwhile.")
)

// ErrEndpointNotFound is returned when the company has no such endpoint.
var ErrEndpointNotFound = Errorf(CodeNotFound, "There is no such webhook. List the company's webhooks to find its id.")
