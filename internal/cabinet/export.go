package cabinet

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/service"
)

// exportCSV answers with the CSV file that write makes.
func (p *page) exportCSV(write func(ctx context.Context, file service.ReportFile, begin service.BeginReport) error) error {
	ctx := p.r.Context()
	return httpapi.Download(ctx, p.w, func(begin httpapi.Begin) error {
		return write(ctx, service.ReportFile{Format: service.ReportCSV, BOM: true}, service.BeginReport(begin))
	})
}

func exportDeliveries(p *page) error {
	shown, f := p.deliveryFilter()
	if len(shown.Errors) > 0 {
		return p.redirect(view.PathDeliveries + "?" + p.r.URL.RawQuery)
	}
	err := p.exportCSV(func(ctx context.Context, file service.ReportFile, begin service.BeginReport) error {
		return p.Reports.DeliveryList(ctx, p.caller(), f, file, begin)
	})
	if errs, ok := formErrors(err); ok && domain.CodeOf(err) == domain.CodeInvalid {
		return p.redirectProblem(firstError(errs), view.PathDeliveries+"?"+p.r.URL.RawQuery)
	}
	return err
}

func exportRequests(p *page) error {
	if !p.Requests.On() {
		return p.redirect(view.PathRequests)
	}
	shown, f := p.requestFilter()
	if len(shown.Errors) > 0 {
		return p.redirect(view.PathRequests + "?" + p.r.URL.RawQuery)
	}
	return p.exportCSV(func(ctx context.Context, file service.ReportFile, begin service.BeginReport) error {
		return p.Reports.RequestList(ctx, p.caller(), f, file, begin)
	})
}

func exportTokens(p *page) error {
	f := domain.TokenFilter{Search: domain.CleanSearch(p.query("q"))}
	if p.query("all") == "" {
		now := p.Now()
		f.LiveAt = &now
	}
	return p.exportCSV(func(ctx context.Context, file service.ReportFile, begin service.BeginReport) error {
		return p.Reports.TokenList(ctx, p.caller(), f, file, begin)
	})
}

func exportEndpoints(p *page) error {
	list, err := p.Webhooks.Overviews(p.r.Context(), p.caller(), domain.CleanSearch(p.query("q")))
	if err != nil {
		return err
	}
	return p.exportCSV(func(ctx context.Context, file service.ReportFile, begin service.BeginReport) error {
		return p.Reports.WebhookList(ctx, p.caller(), list, file, begin)
	})
}
