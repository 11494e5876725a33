package service

import (
	"context"
	"fmt"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Headers returns the headers that are added to an endpoint's requests, with masked
// values. It reports false if they can't be decrypted: the company enters them again.
func (w *Webhooks) Headers(e domain.Endpoint) (domain.Headers, bool) {
	headers, err := w.openHeaders(e)
	for i := range headers {
		headers[i].Value = domain.HeaderMask
	}
	return headers, err == nil
}

func (w *Webhooks) openHeaders(e domain.Endpoint) (domain.Headers, error) {
	if len(e.Headers) == 0 {
		return nil, nil
	}
	plain, err := w.box.Open(domain.SecretLabel(e.CompanyID), e.Headers)
	if err != nil {
		return nil, fmt.Errorf("open the headers of webhook %d: %w", e.ID, err)
	}
	return domain.DecodeHeaders(plain)
}

func (w *Webhooks) sealHeaders(c domain.Caller, headers domain.Headers) domain.SealedSecret {
	if len(headers) == 0 {
		return nil
	}
	return w.box.Seal(domain.SecretLabel(c.Company.ID), domain.EncodeHeaders(headers))
}

// keepHeaders fills in the values that the person left masked. Codes:
// invalid_request, not_found.
func (w *Webhooks) keepHeaders(ctx context.Context, c domain.Caller, id int64, in *domain.EndpointInput) error {
	e, err := w.store.Endpoint(ctx, c.Company.ID, id)
	if err != nil {
		return err
	}
	current, err := w.openHeaders(e)
	if err != nil {
		current = nil // every value is entered again
	}
	headers, err := domain.KeepHeaders(in.Headers, current)
	var checks domain.Checks
	checks.Add("headers", err)
	in.Headers = headers
	return checks.Err()
}
