package service

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// WebhookStore keeps endpoints, their deliveries and what was asked about them.
type WebhookStore interface {
	EndpointStore
	DeliveryStore
	Now() time.Time
}

// EndpointStore keeps endpoints.
type EndpointStore interface {
	AddEndpoint(ctx context.Context, c domain.Caller, in domain.EndpointInput, secret domain.SealedSecret) (domain.Endpoint, error)
	Endpoints(ctx context.Context, company int64) ([]domain.Endpoint, error)
	Endpoint(ctx context.Context, company, id int64) (domain.Endpoint, error)
	UpdateEndpoint(ctx context.Context, c domain.Caller, id int64, in domain.EndpointInput) (domain.Endpoint, error)
	RotateSecret(ctx context.Context, c domain.Caller, id int64, r domain.SecretRotation) (domain.Endpoint, error)
	EnableEndpoint(ctx context.Context, c domain.Caller, id int64, detail string) (domain.Endpoint, error)
	DisableEndpoint(ctx context.Context, c domain.Caller, id int64) (domain.Endpoint, error)
	RemoveEndpoint(ctx context.Context, c domain.Caller, id int64) error
	AuditEndpoint(ctx context.Context, c domain.Caller, id int64, action, detail string) error
	RecordTest(ctx context.Context, c domain.Caller, t domain.TestEvent, a domain.Attempt, detail string) error
	HoldDeliveries(ctx context.Context, key domain.EndpointKey, limit int) (int, error)
	EndpointHealth(ctx context.Context, company, endpoint int64, from time.Time) ([]domain.EndpointHealth, error)
	WaitingDeliveries(ctx context.Context, company, endpoint int64) (int64, error)
}

// Targets answers for receivers: whether a URL may be saved, and what a test
// event comes to.
type Targets interface {
	// CheckTarget fails with a sentence for the person who entered the URL.
	CheckTarget(ctx context.Context, url string) error
	NewSecret() string
	SendTest(ctx context.Context, t domain.TestEvent) domain.Attempt
}

// Webhooks is the use cases around endpoints, deliveries and redeliveries. The
// caller's company is the limit of what they touch.
type Webhooks struct {
	store     WebhookStore
	targets   Targets
	box       SecretBox
	retention time.Duration
	log       *slog.Logger
	owner     string        // of leases on background work
	asked     chan struct{} // a redelivery was asked for
	probes    *probeLimit
}

// WebhookOptions are what may be left out.
type WebhookOptions struct {
	Retention time.Duration // of events and deliveries; 30 days if 0
	Log       *slog.Logger  // slog.Default if nil
}

// NewWebhooks returns the use cases.
func NewWebhooks(store WebhookStore, targets Targets, box SecretBox, o WebhookOptions) *Webhooks {
	if o.Retention == 0 {
		o.Retention = 30 * 24 * time.Hour
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Webhooks{
		store: store, targets: targets, box: box, retention: o.Retention, log: o.Log,
		owner: uuid.NewString(), asked: make(chan struct{}, 1), probes: newProbeLimit(),
	}
}

// Add makes an endpoint and returns its signing secret. Codes: invalid_request, rate_limited.
func (w *Webhooks) Add(ctx context.Context, c domain.Caller, in domain.EndpointInput) (domain.Endpoint, string, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Endpoint{}, "", err
	}
	if err := w.check(ctx, c, &in); err != nil {
		return domain.Endpoint{}, "", err
	}
	in.SealedHeaders = w.sealHeaders(c, in.Headers)
	secret := w.targets.NewSecret()
	e, err := w.store.AddEndpoint(ctx, c, in, w.seal(c, secret))
	return e, secret, err
}

// check reports every field that is wrong, and a URL that can't be used. Codes:
// invalid_request, rate_limited.
func (w *Webhooks) check(ctx context.Context, c domain.Caller, in *domain.EndpointInput) error {
	if err := in.Normalize(); err != nil {
		return err
	}
	release, err := w.probes.acquire(c.Company.ID)
	if err != nil {
		return err
	}
	defer release()
	var checks domain.Checks
	checks.Add("url", w.targets.CheckTarget(ctx, in.URL))
	return checks.Err()
}

// CheckURL reports whether an address may be a target, in a sentence for the person
// who entered it. Codes: rate_limited, insufficient_role, company_suspended.
func (w *Webhooks) CheckURL(ctx context.Context, c domain.Caller, url string) error {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return err
	}
	release, err := w.probes.acquire(c.Company.ID)
	if err != nil {
		return err
	}
	defer release()
	return w.targets.CheckTarget(ctx, url)
}

// Waiting counts the endpoint's deliveries that are neither delivered nor given up.
func (w *Webhooks) Waiting(ctx context.Context, c domain.Caller, id int64) (int64, error) {
	return w.store.WaitingDeliveries(ctx, c.Company.ID, id)
}

func (w *Webhooks) seal(c domain.Caller, secret string) domain.SealedSecret {
	return w.box.Seal(domain.SecretLabel(c.Company.ID), []byte(secret))
}

// Update changes everything of an endpoint that its form has. Headers with a masked
// value keep theirs. Codes: invalid_request, not_found, rate_limited.
func (w *Webhooks) Update(ctx context.Context, c domain.Caller, id int64, in domain.EndpointInput) (domain.Endpoint, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Endpoint{}, err
	}
	if err := w.keepHeaders(ctx, c, id, &in); err != nil {
		return domain.Endpoint{}, err
	}
	if err := w.check(ctx, c, &in); err != nil {
		return domain.Endpoint{}, err
	}
	in.SealedHeaders = w.sealHeaders(c, in.Headers)
	return w.store.UpdateEndpoint(ctx, c, id, in)
}

// List returns the company's endpoints in ascending id.
func (w *Webhooks) List(ctx context.Context, c domain.Caller) ([]domain.Endpoint, error) {
	return w.store.Endpoints(ctx, c.Company.ID)
}

// Get returns one endpoint. Codes: not_found.
func (w *Webhooks) Get(ctx context.Context, c domain.Caller, id int64) (domain.Endpoint, error) {
	return w.store.Endpoint(ctx, c.Company.ID, id)
}

// RevealSecret returns the signing secret; the audit log remembers who saw it. Codes: not_found.
func (w *Webhooks) RevealSecret(ctx context.Context, c domain.Caller, id int64) (string, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return "", err
	}
	e, err := w.store.Endpoint(ctx, c.Company.ID, id)
	if err != nil {
		return "", err
	}
	secret, err := w.open(e, e.Secret)
	if err != nil {
		return "", err
	}
	return secret, w.store.AuditEndpoint(ctx, c, id, "webhook.secret_revealed", "")
}

func (w *Webhooks) open(e domain.Endpoint, sealed domain.SealedSecret) (string, error) {
	plain, err := w.box.Open(domain.SecretLabel(e.CompanyID), sealed)
	if err != nil {
		return "", fmt.Errorf("open the secret of webhook %d: %w", e.ID, err)
	}
	return string(plain), nil
}

// Rotate creates a new signing secret and returns it. Every secret that was replaced
// in the last 24 hours keeps signing until its 24 hours are over. Codes: not_found.
func (w *Webhooks) Rotate(ctx context.Context, c domain.Caller, id int64) (domain.Endpoint, string, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Endpoint{}, "", err
	}
	e, err := w.store.Endpoint(ctx, c.Company.ID, id)
	if err != nil {
		return e, "", err
	}
	retired, err := w.retire(e)
	if err != nil {
		return e, "", err
	}
	secret := w.targets.NewSecret()
	e, err = w.store.RotateSecret(ctx, c, id, domain.SecretRotation{Secret: w.seal(c, secret), Previous: w.seal(c, retired), Replaced: e.Secret})
	return e, secret, err
}

// retire returns the secrets that keep signing once the endpoint's secret is
// replaced.
func (w *Webhooks) retire(e domain.Endpoint) (string, error) {
	now := w.store.Now()
	current, err := w.open(e, e.Secret)
	if err != nil {
		return "", err
	}
	list := []domain.RetiredSecret{{Secret: current}}
	if e.Rotating(now) {
		previous, err := w.open(e, e.Previous)
		if err != nil {
			return "", err
		}
		list = append(list, domain.ParseRetiredSecrets(previous, *e.PreviousUntil, now)...)
	}
	return domain.FormatRetiredSecrets(list), nil
}

// Enable lets events be sent again. Unless forced, a test event must be accepted
// first; the attempt contains the outcome. Codes: not_found, invalid_request
// when the test failed.
func (w *Webhooks) Enable(ctx context.Context, c domain.Caller, id int64, force bool) (domain.Endpoint, domain.Attempt, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Endpoint{}, domain.Attempt{}, err
	}
	if force {
		e, err := w.store.EnableEndpoint(ctx, c, id, "Without a test.")
		return e, domain.Attempt{}, err
	}
	e, err := w.store.Endpoint(ctx, c.Company.ID, id)
	if err != nil {
		return e, domain.Attempt{}, err
	}
	attempt, err := w.probe(ctx, c, e, e.Events[0])
	if err != nil {
		return e, attempt, err
	}
	if attempt.ErrorKind != "" {
		return e, attempt, domain.Errorf(domain.CodeInvalid,
			"The webhook stays disabled, for the test event was not accepted: %s Enable it without a test if you are sure.", attempt.Error)
	}
	e, err = w.store.EnableEndpoint(ctx, c, id, "After a successful test.")
	return e, attempt, err
}

// holdStep is how many deliveries one transaction holds.
const holdStep = 500

// Disable has events held from now on, and what is waiting too. Codes: not_found.
func (w *Webhooks) Disable(ctx context.Context, c domain.Caller, id int64) (domain.Endpoint, error) {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return domain.Endpoint{}, err
	}
	e, err := w.store.DisableEndpoint(ctx, c, id)
	if err != nil {
		return e, err
	}
	return e, w.holdDeliveries(ctx, e.Key())
}

// Remove ends an endpoint; its log stays until it expires. Codes: not_found.
func (w *Webhooks) Remove(ctx context.Context, c domain.Caller, id int64) error {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return err
	}
	if err := w.store.RemoveEndpoint(ctx, c, id); err != nil {
		return err
	}
	return w.holdDeliveries(ctx, domain.EndpointKey{CompanyID: c.Company.ID, ID: id})
}

func (w *Webhooks) holdDeliveries(ctx context.Context, key domain.EndpointKey) error {
	for {
		n, err := w.store.HoldDeliveries(ctx, key, holdStep)
		if err != nil || n < holdStep {
			return err
		}
	}
}

// Health returns what has become of the deliveries that were created in the last 24
// hours, by endpoint and hour: of all endpoints, removed ones included, or of the
// one that is not 0. Endpoints without any delivery are left out.
func (w *Webhooks) Health(ctx context.Context, c domain.Caller, endpoint int64) ([]domain.EndpointHealth, error) {
	return w.store.EndpointHealth(ctx, c.Company.ID, endpoint, w.store.Now().Add(-domain.HealthWindow))
}
