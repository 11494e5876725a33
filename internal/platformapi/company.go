package platformapi

import (
	"context"

	v1 "github.com/coursebridge/coursebridge/api/v1"
)

// listCompanies returns one page of all companies.
func (h *handler) listCompanies(ctx context.Context, r *request) (v1.CompanyList, error) {
	p := r.Params()
	paging := p.Page()
	if err := p.Err(); err != nil {
		return v1.CompanyList{}, err
	}
	found, err := h.svc.Companies(ctx, paging.PageRequest)
	if err != nil {
		return v1.CompanyList{}, err
	}
	items := make([]v1.PlatformCompany, len(found.Items))
	for i, c := range found.Items {
		items[i] = v1.PlatformCompany{ID: c.ID, Name: c.Name, TimeZone: c.TimeZone, Suspended: c.Suspended()}
	}
	return v1.CompanyList{Items: items, Pagination: paging.Pagination(found.Total)}, nil
}
