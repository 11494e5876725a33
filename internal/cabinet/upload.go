package cabinet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/transfer"
)

const (
	// smallForm is the largest form that is not counted as an upload.
	smallForm = 1 << 20
	// maxArrivals is how many files arrive at once in a process. Each holds up to MaxUpload
	// bytes.
	maxArrivals = 4
	// maxReaders is how many of them are read at once. Reading one takes up to 92 MiB: 16
	// for the request, 16 for the file and 60 for its table, as
	// TestLargestTablesHoldBoundedMemory of sheet measures.
	maxReaders = 2
	// uploadGrace is how long a file may arrive before another company's may take its slot.
	uploadGrace = 5 * time.Second
	// uploadWait is how long a request waits for a slot, and for a reader.
	uploadWait = 20 * time.Second
)

var (
	errUploading  = domain.Errorf(domain.CodeRateLimited, "Another file of your company is being uploaded. Try again when it is done.")
	errUploads    = domain.Errorf(domain.CodeUnavailable, "Other files are being read right now. Try again in a few seconds.")
	errTooSlow    = domain.Errorf(domain.CodeUnavailable, "The file arrived too slowly while other companies were waiting. Try again, or split it into smaller files.")
	errIncomplete = domain.Errorf(domain.CodeInvalid, "The file did not arrive whole. Send it again.")
)

// uploads bounds the requests that carry files: a company sends one at a time, few arrive
// at once, and fewer are read at once. A request counts as being read only once it has
// arrived whole, so that a slow client occupies no reader.
type uploads struct {
	arrivals *transfer.Queue
	readers  chan struct{} // has an element for each request that is read

	mu        sync.Mutex
	companies map[int64]bool // that send a file now
}

func newUploads(arrivals, readers int) *uploads {
	return &uploads{arrivals: transfer.NewQueue(arrivals, uploadGrace), readers: make(chan struct{}, readers), companies: map[int64]bool{}}
}

// isUpload reports whether a request may carry a file, as a file or as pasted text.
func isUpload(r *http.Request) bool {
	isForm := r.ContentLength >= 0 && r.ContentLength <= smallForm && !strings.HasPrefix(strings.ToLower(r.Header.Get("Content-Type")), "multipart/")
	return r.Method == http.MethodPost && !isForm
}

// limit lets requests with files pass to the handler within the bounds.
func (u *uploads) limit(h handler) handler {
	return func(p *page) error {
		if !isUpload(p.r) {
			return h(p)
		}
		leave, err := u.enter(p.identity.Company.ID)
		if err != nil {
			return err
		}
		defer leave()
		stopReading, err := u.receive(p)
		if err != nil {
			return err
		}
		defer stopReading()
		return h(p)
	}
}

// enter returns the function that ends a company's upload, of which there is one at a
// time. Codes: rate_limited.
func (u *uploads) enter(company int64) (leave func(), err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.companies[company] {
		return nil, errUploading
	}
	u.companies[company] = true
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.companies, company)
	}, nil
}

// receive takes the whole request and waits for a reader. Then it parses the form, so
// that the bytes of the request can be freed, and returns the function that frees the
// reader. Codes: unavailable, too_large, invalid_request.
func (u *uploads) receive(p *page) (stopReading func(), err error) {
	control := http.NewResponseController(p.w)
	ctx, cancel := context.WithTimeoutCause(p.r.Context(), uploadWait, errUploads)
	defer cancel()
	slot, err := u.arrivals.Enter(ctx, strconv.FormatInt(p.identity.Company.ID, 10), func() { _ = control.SetReadDeadline(time.Unix(1, 0)) })
	if err != nil {
		return nil, err
	}
	defer slot.Leave()
	var body bytes.Buffer
	if p.r.ContentLength > 0 {
		body.Grow(int(min(p.r.ContentLength, MaxUpload)) + bytes.MinRead)
	}
	_, err = body.ReadFrom(slotReader{slot, p.r.Body})
	switch {
	case !slot.Complete():
		return nil, errTooSlow
	case err != nil:
		return nil, uploadError(err)
	}
	// The limit on the time of a request's body must not end what follows.
	_ = control.SetReadDeadline(time.Time{})
	wait, stopWaiting := context.WithTimeoutCause(p.r.Context(), uploadWait, errUploads)
	defer stopWaiting()
	select {
	case u.readers <- struct{}{}:
	case <-wait.Done():
		return nil, context.Cause(wait)
	}
	p.r.Body = io.NopCloser(&body)
	p.parseForm()
	p.r.Body = http.NoBody
	return func() { <-u.readers }, nil
}

// parseForm reads the form of the request. A form that can't be read has no values, and
// the handlers ask for those that they need.
func (p *page) parseForm() {
	if err := p.r.ParseMultipartForm(MaxUpload); errors.Is(err, http.ErrNotMultipart) {
		_ = p.r.ParseForm()
	}
}

// uploadError returns the error of a request that did not arrive whole.
func uploadError(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case domain.CodeOf(err) == domain.CodeUnavailable:
		return err
	case errors.As(err, &tooLarge):
		return domain.Errorf(domain.CodeTooLarge, "The file is larger than %d MiB. Split it into smaller files.", tooLarge.Limit>>20)
	}
	return errIncomplete.WithCause(err)
}

// slotReader reads a request and counts its bytes.
type slotReader struct {
	slot *transfer.Slot
	body io.Reader
}

func (r slotReader) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	r.slot.Count(n)
	return n, err
}
