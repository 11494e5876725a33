package platformapi

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/platformapi/oas"
)

// ListCompanies gives one page of all companies.
func (h *handler) ListCompanies(ctx context.Context, p oas.ListCompaniesParams) (*oas.CompanyListResponse, error) {
	var q httpapi.Query
	paging := q.Page(p.Page, p.Limit)
	if err := q.Err(); err != nil {
		return nil, err
	}
	found, err := h.svc.Companies(ctx, paging.PageRequest)
	if err != nil {
		return nil, err
	}
	items := make([]oas.Company, len(found.Items))
	for i, c := range found.Items {
		items[i] = oas.Company{ID: c.ID, Name: c.Name, TimeZone: c.TimeZone, Suspended: c.Suspended()}
	}
	return &oas.CompanyListResponse{Data: oas.CompanyList{
		Items: items,
		Pagination: oas.Pagination{
			Page: paging.Shown, Limit: paging.Limit, Total: found.Total, Pages: paging.Pages(found.Total),
		},
	}}, nil
}
