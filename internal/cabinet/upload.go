package cabinet

import (
	"net/http"
	"strings"
	"sync"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// maxUploads is how many files are taken at once in a process, one if it has little
// memory. One takes up to 92 MiB while it is read: 16 for the request, 16 for the file and
// 60 for its table, as TestLargestTablesHoldBoundedMemory of sheet measures.
const maxUploads = 2

// smallForm is the largest form that is not counted as an upload.
const smallForm = 1 << 20

var (
	errUploading = domain.Errorf(domain.CodeRateLimited, "Another file of your company is being uploaded. Try again when it is done.")
	errUploads   = domain.Errorf(domain.CodeUnavailable, "Other files are being read right now. Try again in a few seconds.")
)

// uploads are the companies that upload a file now.
type uploads struct {
	mu        sync.Mutex
	companies map[int64]bool
}

// acquire returns the function that ends an upload, of which there may be most at once.
// Codes: rate_limited, unavailable.
func (u *uploads) acquire(company int64, most int) (release func(), err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.companies[company]:
		return nil, errUploading
	case len(u.companies) >= most:
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

// isUpload reports whether a request may carry a file, as a file or as pasted text.
func isUpload(r *http.Request) bool {
	isForm := r.ContentLength >= 0 && r.ContentLength <= smallForm && !strings.HasPrefix(strings.ToLower(r.Header.Get("Content-Type")), "multipart/")
	return r.Method == http.MethodPost && !isForm
}

// limitUploads bounds the requests that carry files, before any of them is read.
func (c *Cabinet) limitUploads(h handler) handler {
	most := maxUploads
	if c.LowMemory {
		most = 1
	}
	return func(p *page) error {
		if !isUpload(p.r) {
			return h(p)
		}
		release, err := c.uploads.acquire(p.identity.Company.ID, most)
		if err != nil {
			return err
		}
		defer release()
		return h(p)
	}
}
