package cabinet

import (
	"net/http"
	"strings"
	"sync"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// maxUploads is how many files are taken at once in a process. One takes up to 90 MiB
// while it is read: the request, the file, and its table.
const maxUploads = 2

var (
	errUploading = domain.Errorf(domain.CodeRateLimited, "Another file of your company is being uploaded. Try again when it is done.")
	errUploads   = domain.Errorf(domain.CodeUnavailable, "Other files are being read right now. Try again in a few seconds.")
)

// uploads are the companies that upload a file now.
type uploads struct {
	mu        sync.Mutex
	companies map[int64]bool
}

// acquire returns the function that ends an upload. Codes: rate_limited, unavailable.
func (u *uploads) acquire(company int64) (release func(), err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.companies[company]:
		return nil, errUploading
	case len(u.companies) >= maxUploads:
		return nil, errUploads
	}
	if u.companies == nil {
		u.companies = map[int64]bool{}
	}
	u.companies[company] = true
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.companies, company)
	}, nil
}

// limitUploads bounds the requests that carry files, before any of them is read.
func (c *Cabinet) limitUploads(h handler) handler {
	return func(p *page) error {
		if p.r.Method != http.MethodPost || !strings.HasPrefix(strings.ToLower(p.r.Header.Get("Content-Type")), "multipart/") {
			return h(p)
		}
		release, err := c.uploads.acquire(p.identity.Company.ID)
		if err != nil {
			return err
		}
		defer release()
		return h(p)
	}
}
