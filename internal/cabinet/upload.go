package cabinet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// smallForm is the largest form that is not counted as an upload.
const smallForm = 1 << 20

var (
	errUploading  = domain.Errorf(domain.CodeRateLimited, "Another file of your company is being uploaded. Try again when it is done.")
	errUploads    = domain.Errorf(domain.CodeUnavailable, "Other files are being read right now. Try again in a few seconds.")
	errTooSlow    = domain.Errorf(domain.CodeUnavailable, "The file arrived too slowly while other companies were waiting. Try again, or split it into smaller files.")
	errIncomplete = domain.Errorf(domain.CodeInvalid, "The file did not arrive whole. Send it again.")
)

// isUpload reports whether a request may carry a file, as a file or as pasted text.
func isUpload(r *http.Request) bool {
	isForm := r.ContentLength >= 0 && r.ContentLength <= smallForm && !strings.HasPrefix(strings.ToLower(r.Header.Get("Content-Type")), "multipart/")
	return r.Method == http.MethodPost && !isForm
}

// limit bounds the requests that carry files: a company sends one at a time, few arrive
// at once, and fewer are read at once. A request counts as being read only once it has
// arrived whole, so that a slow client occupies no reader.
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

// receive takes the whole request and waits for a reader. Then it parses the form, so
// that the bytes of the request can be freed, and returns the function that frees the
// reader. Codes: unavailable, too_large, invalid_request.
func (u *uploads) receive(p *page) (stopReading func(), err error) {
	ctx, cancel := context.WithTimeoutCause(p.r.Context(), uploadWait, errUploads)
	defer cancel()
	control := http.NewResponseController(p.w)
	a := &arrival{cut: func() { _ = control.SetReadDeadline(time.Unix(1, 0)) }}
	if err := u.await(ctx, func() bool { return u.admit(a) }); err != nil {
		return nil, err
	}
	defer u.remove(a)
	var body bytes.Buffer
	if p.r.ContentLength > 0 {
		body.Grow(int(min(p.r.ContentLength, MaxUpload)) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(arrivalReader{u, a, p.r.Body}); err != nil {
		return nil, u.readError(a, err)
	}
	if !u.arrived(a) {
		return nil, errTooSlow
	}
	// The limit on the time of a request's body must not end what follows.
	_ = control.SetReadDeadline(time.Time{})
	wait, stopWaiting := context.WithTimeoutCause(p.r.Context(), uploadWait, errUploads)
	defer stopWaiting()
	if err := u.await(wait, u.startReading); err != nil {
		return nil, err
	}
	p.r.Body = io.NopCloser(&body)
	p.parseForm()
	p.r.Body = http.NoBody
	return u.stopReading, nil
}

// parseForm reads the form of the request. A form that can't be read has no values, and
// the handlers ask for those that they need.
func (p *page) parseForm() {
	if err := p.r.ParseMultipartForm(MaxUpload); errors.Is(err, http.ErrNotMultipart) {
		_ = p.r.ParseForm()
	}
}

// await calls try until it returns true. Codes: unavailable.
func (u *uploads) await(ctx context.Context, try func() bool) error {
	for !try() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(uploadPoll):
		}
	}
	return nil
}

// readError returns the error of a request that did not arrive whole.
func (u *uploads) readError(a *arrival, err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case u.isCut(a):
		return errTooSlow
	case domain.CodeOf(err) == domain.CodeUnavailable:
		return err
	case errors.As(err, &tooLarge):
		return domain.Errorf(domain.CodeTooLarge, "The file is larger than %d MiB. Split it into smaller files.", tooLarge.Limit>>20)
	}
	return errIncomplete.WithCause(err)
}

// arrivalReader reads a request and counts its bytes.
type arrivalReader struct {
	uploads *uploads
	arrival *arrival
	body    io.Reader
}

func (r arrivalReader) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	r.uploads.count(r.arrival, n)
	return n, err
}
