package domain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Headers that are accepted can be sent: they can't end a line or begin another header,
// and they replace none of the service's own. They survive being stored.
func FuzzParseHeaders(f *testing.F) {
	for _, seed := range []string{"X-Api-Key: 123", "A: b\r\nC: d", "Host: x", "x-service-Signature: 1", "A:b\vC", "A: é", "A : b", ": x", "A:", "A: b\nA: c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		headers, err := domain.ParseHeaders(text)
		if err != nil || domain.CheckHeaders(headers) != nil {
			return
		}
		for _, h := range headers {
			lower := strings.ToLower(h.Name)
			if h.Name == "" || strings.ContainsAny(h.Name, ": \t\r\n\x00") || strings.ContainsAny(h.Value, "\r\n\x00") || h.Value == "" {
				t.Errorf("%q is accepted with the header %q: %q", text, h.Name, h.Value)
			}
			if lower == "host" || lower == "content-length" || lower == "transfer-encoding" || strings.HasPrefix(lower, "x-service-") {
				t.Errorf("%q is accepted and sets %s", text, h.Name)
			}
		}
		kept, err := domain.DecodeHeaders(domain.EncodeHeaders(headers))
		if err != nil || len(kept) != len(headers) {
			t.Errorf("%q is stored as %v, %v", text, kept, err)
		}
	})
}

// A deadline of an imported row is an instant that the API can show and read.
func FuzzImportedAssignment(f *testing.F) {
	for _, seed := range []string{"2027-01-31", "31.1.2027", "45000.5", "9999-12-31", "0000-01-01", "1 Jan 0001", "NaN", "1e300", "2026-02-30", "yes"} {
		f.Add(seed, "Fire safety")
	}
	west := time.FixedZone("west", -12*3600)
	in := domain.Import{Fields: []domain.ImportField{domain.ImportDeadline, domain.ImportCourse, domain.ImportRequired}}
	f.Fuzz(func(t *testing.T, day, course string) {
		for _, zone := range []*time.Location{time.UTC, west} {
			out, err := in.Assignment([]string{day, course, "yes"}, domain.ImportCourses{domain.FoldName("Fire safety"): 7}, zone)
			if err != nil || out.Deadline == nil {
				continue
			}
			if again, err := domain.ParseInstant(domain.FormatInstant(*out.Deadline)); err != nil || !again.Equal(*out.Deadline) {
				t.Errorf("%q is read as %s, which is read as %s, %v", day, out.Deadline, again, err)
			}
		}
		for _, field := range domain.GuessImportFields([]string{day, course}, nil) {
			if len(field) > 32 {
				t.Errorf("the column %q is taken for %q", day, field)
			}
		}
	})
}
