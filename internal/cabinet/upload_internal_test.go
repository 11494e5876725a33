package cabinet

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// A company uploads one file at a time, and two are taken in all: thirty at once would
// take gigabytes. Other forms are not affected, and the limit ends with the upload.
func TestUploadsAtOnceAreLimited(t *testing.T) {
	t.Parallel()
	c := &Cabinet{}
	begun, end, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	submit := func(company int64, kind string, h handler) error {
		p := &page{Cabinet: c, w: httptest.NewRecorder(), r: httptest.NewRequest(http.MethodPost, "/cabinet/employees/import", nil)}
		p.r.Header.Set("Content-Type", kind)
		p.identity.Company.ID = company
		return c.limitUploads(h)(p)
	}
	const multipart, plain = "Multipart/form-data; boundary=x", "application/x-www-form-urlencoded"
	atOnce := func(*page) error { return nil }
	for company := range int64(2) {
		go func() {
			ended <- submit(company, multipart, func(*page) error {
				begun <- struct{}{}
				<-end
				return nil
			})
		}()
		<-begun
	}
	if err := submit(0, multipart, atOnce); domain.CodeOf(err) != domain.CodeRateLimited {
		t.Errorf("a second file of a company: %v", err)
	}
	if err := submit(3, multipart, atOnce); domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("a third file in all: %v", err)
	}
	if err := submit(0, plain, atOnce); err != nil {
		t.Errorf("a form without a file: %v", err)
	}
	if err := pasted(c, 3, 2<<20, atOnce); domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("a table of 2 MiB that was pasted: %v", err)
	}
	if err := pasted(c, 3, -1, atOnce); domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("a pasted table of unknown size: %v", err)
	}
	close(end)
	for range 2 {
		if err := <-ended; err != nil {
			t.Errorf("an upload within the limit: %v", err)
		}
	}
	for company := range int64(3) {
		if err := submit(company, multipart, atOnce); err != nil {
			t.Errorf("an upload after the others: %v", err)
		}
	}
}

// pasted submits a form without a file. Its size is the Content-Length, -1 if there is
// none.
func pasted(c *Cabinet, company, size int64, h handler) error {
	p := &page{Cabinet: c, w: httptest.NewRecorder(), r: httptest.NewRequest(http.MethodPost, "/cabinet/employees/import", nil)}
	p.r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	p.r.ContentLength, p.identity.Company.ID = size, company
	return c.limitUploads(h)(p)
}

// With little memory one file is taken at a time.
func TestOneUploadWithLittleMemory(t *testing.T) {
	t.Parallel()
	c := &Cabinet{Options: Options{LowMemory: true}}
	err := pasted(c, 1, -1, func(*page) error {
		if err := pasted(c, 2, -1, func(*page) error { return nil }); domain.CodeOf(err) != domain.CodeUnavailable {
			t.Errorf("a second file: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Errorf("the first file: %v", err)
	}
}
