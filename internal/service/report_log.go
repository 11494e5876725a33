package service

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/report"
)

// ReportLogStore reads the rows of the integration reports, newest first, without secrets
// and bodies.
type ReportLogStore interface {
	DeliveryReport(ctx context.Context, company int64, f domain.DeliveryFilter, yield func([]domain.Delivery) error) error
	APIRequestReport(ctx context.Context, company int64, f domain.APIRequestFilter, yield func([]domain.APIRequest) error) error
	TokenReport(ctx context.Context, f domain.TokenFilter, yield func([]domain.Token) error) error
}

// WriteDeliveries writes the delivery log, the newest delivery first. Codes:
// invalid_request, too_many_reports.
func (r *Reports) WriteDeliveries(ctx context.Context, c domain.Caller, f domain.DeliveryFilter, file ReportFile) error {
	checks := checkDeliveryFilter(f)
	if err := checks.Err(); err != nil {
		return err
	}
	return deliveryTable.write(ctx, r, c, file, func(ctx context.Context, _ time.Time, yield func([]domain.Delivery) error) error {
		return r.store.DeliveryReport(ctx, c.Company.ID, f, yield)
	})
}

var deliveryTable = reportTable[domain.Delivery]{
	name: "deliveries", sheet: "Deliveries",
	columns: []report.Column{
		{Name: "id", Kind: report.KindText},
		{Name: "state", Kind: report.KindText},
		{Name: "event", Kind: report.KindText},
		{Name: "sequence", Kind: report.KindInteger},
		{Name: "externalId", Kind: report.KindText},
		{Name: "webhookId", Kind: report.KindInteger},
		{Name: "webhookUrl", Kind: report.KindText},
		{Name: "isTest", Kind: report.KindBool},
		{Name: "attempts", Kind: report.KindInteger},
		{Name: "statusCode", Kind: report.KindInteger},
		{Name: "errorKind", Kind: report.KindText},
		{Name: "createdAt", Kind: report.KindTime},
		{Name: "nextAttemptAt", Kind: report.KindTime},
		{Name: "finishedAt", Kind: report.KindTime},
	},
	cells: func(cells []report.Cell, d *domain.Delivery, _ time.Time) []report.Cell {
		state, next, status := string(d.State), report.Null(), report.Null()
		if d.Retrying() {
			state = "retrying"
		}
		if d.State == domain.DeliveryPending {
			next = report.Time(d.DueAt)
		}
		if d.StatusCode != 0 {
			status = report.Int(int64(d.StatusCode))
		}
		return append(cells,
			report.Text(d.ID), report.Text(state), report.Text(string(d.Kind)), report.Int(d.Sequence), report.Text(d.ExternalID),
			report.Int(d.EndpointID), report.Text(d.EndpointURL), report.Bool(d.Test), report.Int(int64(d.Attempts)), status,
			report.Text(d.ErrorKind), report.Time(d.CreatedAt), next, optionalTime(d.FinishedAt))
	},
}

// WriteAPIRequests writes the log of the calls of the API, the newest first. Codes:
// too_many_reports.
func (r *Reports) WriteAPIRequests(ctx context.Context, c domain.Caller, f domain.APIRequestFilter, file ReportFile) error {
	return requestTable.write(ctx, r, c, file, func(ctx context.Context, _ time.Time, yield func([]domain.APIRequest) error) error {
		return r.store.APIRequestReport(ctx, c.Company.ID, f, yield)
	})
}

var requestTable = reportTable[domain.APIRequest]{
	name: "requests", sheet: "Requests",
	columns: []report.Column{
		{Name: "id", Kind: report.KindInteger},
		{Name: "at", Kind: report.KindTime},
		{Name: "method", Kind: report.KindText},
		{Name: "route", Kind: report.KindText},
		{Name: "status", Kind: report.KindInteger},
		{Name: "code", Kind: report.KindText},
		{Name: "message", Kind: report.KindText},
		{Name: "tokenId", Kind: report.KindInteger},
		{Name: "token", Kind: report.KindText},
		{Name: "durationMs", Kind: report.KindNumber},
		{Name: "requestId", Kind: report.KindText},
	},
	cells: func(cells []report.Cell, q *domain.APIRequest, _ time.Time) []report.Cell {
		return append(cells,
			report.Int(q.ID), report.Time(q.At), report.Text(q.Method), report.Text(q.Route), report.Int(int64(q.Status)),
			report.Text(string(q.Code)), report.Text(q.Message), report.Int(q.TokenID), report.Text(q.TokenName),
			report.Num(float64(q.Duration.Microseconds())/1000), report.Text(q.RequestID))
	},
}

// WriteTokens writes the company's tokens, the newest first. Codes: too_many_reports.
func (r *Reports) WriteTokens(ctx context.Context, c domain.Caller, f domain.TokenFilter, file ReportFile) error {
	f.CompanyID = c.Company.ID
	return tokenTable.write(ctx, r, c, file, func(ctx context.Context, _ time.Time, yield func([]domain.Token) error) error {
		return r.store.TokenReport(ctx, f, yield)
	})
}

var tokenTable = reportTable[domain.Token]{
	name: "tokens", sheet: "Tokens",
	columns: []report.Column{
		{Name: "id", Kind: report.KindInteger},
		{Name: "name", Kind: report.KindText},
		{Name: "lastFour", Kind: report.KindText},
		{Name: "state", Kind: report.KindText},
		{Name: "scopes", Kind: report.KindText},
		{Name: "allowedAddresses", Kind: report.KindText},
		{Name: "createdBy", Kind: report.KindText},
		{Name: "createdAt", Kind: report.KindTime},
		{Name: "lastUsedAt", Kind: report.KindTime},
		{Name: "lastUsedAddress", Kind: report.KindText},
		{Name: "expiresAt", Kind: report.KindTime},
		{Name: "revokedAt", Kind: report.KindTime},
	},
	cells: func(cells []report.Cell, t *domain.Token, now time.Time) []report.Cell {
		state := "active"
		switch {
		case t.RevokedAt != nil:
			state = "revoked"
		case !t.Live(now):
			state = "expired"
		}
		return append(cells,
			report.Int(t.ID), report.Text(t.Name), report.Text(t.LastFour), report.Text(state), report.Text(joinCell(t.Scopes, func(s domain.Scope) string { return string(s) })),
			report.Text(joinCell(t.Allowed, netip.Prefix.String)), report.Text(t.CreatedBy), report.Time(t.CreatedAt), optionalTime(t.LastUsedAt),
			report.Text(t.LastUsedIP), optionalTime(t.ExpiresAt), optionalTime(t.RevokedAt))
	},
}

// joinCell writes a list into one cell.
func joinCell[T any](list []T, text func(T) string) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = text(v)
	}
	return strings.Join(texts, "; ")
}
