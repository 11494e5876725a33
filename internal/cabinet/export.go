package cabinet

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/service"
)

// reportWriter is a method of service.Reports that writes what a filter selects.
type reportWriter[F any] func(ctx context.Context, c domain.Caller, filter F, file service.ReportFile) error

// download answers with a file of what the filter selects.
func download[F any](p *page, file service.ReportFile, write reportWriter[F], filter F) error {
	ctx := p.r.Context()
	return httpapi.Download(ctx, p.w, func(begin httpapi.Begin) error {
		file.Begin = service.BeginReport(begin)
		return write(ctx, p.caller(), filter, file)
	})
}

// csvForExcel returns a CSV file with a byte order mark, so that Excel reads it as UTF-8.
func csvForExcel() service.ReportFile {
	return service.ReportFile{Format: service.ReportCSV, BOM: true}
}

// requestedFile returns the file whose format the address names: XLSX, otherwise CSV.
func (p *page) requestedFile() service.ReportFile {
	if p.query("format") == string(service.ReportXLSX) {
		return service.ReportFile{Format: service.ReportXLSX}
	}
	return csvForExcel()
}

func exportDeliveries(p *page) error {
	shown, f := p.deliveryFilter()
	if len(shown.Errors) > 0 {
		return p.redirect(view.PathDeliveries + "?" + p.r.URL.RawQuery)
	}
	err := download(p, csvForExcel(), p.Reports.WriteDeliveries, f)
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
	return download(p, csvForExcel(), p.Reports.WriteAPIRequests, f)
}

func exportTokens(p *page) error {
	f := domain.TokenFilter{Search: domain.CleanSearch(p.query("q"))}
	if p.query("all") == "" {
		now := p.Now()
		f.LiveAt = &now
	}
	return download(p, csvForExcel(), p.Reports.WriteTokens, f)
}

func exportEndpoints(p *page) error {
	list, err := p.Webhooks.Overviews(p.r.Context(), p.caller(), domain.CleanSearch(p.query("q")))
	if err != nil {
		return err
	}
	return download(p, csvForExcel(), p.Reports.WriteWebhooks, list)
}
