package httpapi

import (
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// params returns a reader of a query string and, under every name, of one path value.
func params(query, path string) *Params {
	r := &http.Request{URL: &url.URL{RawQuery: query}}
	r.SetPathValue("id", path)
	r.SetPathValue("externalId", path)
	return newParams(r, []string{
		"page", "limit", "after", "courseId", "externalId", "email", "tag", "status", "bom", "updatedSince",
	})
}

func TestParamsRefuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, query, path string
		read              func(p *Params)
		want              string
	}{
		{"page 0", "page=0", "", func(p *Params) { p.Page() }, "page: must be a positive integer"},
		{"page -1", "page=-1", "", func(p *Params) { p.Page() }, "page: must be a positive integer"},
		{"page empty", "page=", "", func(p *Params) { p.Page() }, "page: must be a positive integer"},
		{"page too large", "page=9223372036854775808", "", func(p *Params) { p.Page() }, "page: must be a positive integer of at most 18 digits"},
		{"limit 0", "limit=0", "", func(p *Params) { p.Page() }, "limit: must be an integer from 1 to 500"},
		{"limit 501", "limit=501", "", func(p *Params) { p.Page() }, "limit: must be an integer from 1 to 500"},
		{"limit 1.0", "limit=1.0", "", func(p *Params) { p.Page() }, "limit: must be an integer from 1 to 500"},
		{"limit +5", "limit=%2B5", "", func(p *Params) { p.Page() }, "limit: must be an integer from 1 to 500"},
		{"limit spaced", "limit=%205", "", func(p *Params) { p.Page() }, "limit: must be an integer from 1 to 500"},
		{"limit hex", "limit=0x10", "", func(p *Params) { p.Page() }, "limit: must be an integer from 1 to 500"},
		{"both", "page=x&limit=y", "", func(p *Params) { p.Page() }, "page: must be a positive integer; limit: must be an integer from 1 to 500"},
		{"after", "after=x", "", func(p *Params) { p.Walk(domain.EmployeeList) }, "after: " + errCursor.Error()},
		{"after empty", "after=", "", func(p *Params) { p.Walk(domain.EmployeeList) }, "after: " + errCursor.Error()},
		{"course x", "courseId=x", "", func(p *Params) { p.ID("courseId") }, "courseId: must be an integer"},
		{"course too large", "courseId=99999999999999999999", "", func(p *Params) { p.ID("courseId") }, "courseId: must be an integer of at most 18 digits"},
		{"id", "", "seven", func(p *Params) { p.PathID("id") }, "id: must be an integer"},
		{"id of a float", "", "7.0", func(p *Params) { p.PathID("id") }, "id: must be an integer"},
		{"id too large", "", "99999999999999999999", func(p *Params) { p.PathID("id") }, "id: must be an integer of at most 18 digits"},
		{"identifier empty", "externalId=", "", func(p *Params) { p.ExternalID("externalId") }, "externalId: must not be empty"},
		{"identifier spaced", "externalId=%20a", "", func(p *Params) { p.ExternalID("externalId") }, "externalId: must not begin or end with white space"},
		{"identifier of bad bytes", "", "\xff", func(p *Params) { p.PathExternalID("externalId") }, "externalId: must be valid UTF-8"},
		{"identifier with a zero", "", "a\x00b", func(p *Params) { p.PathExternalID("externalId") }, "externalId: must not contain control characters (found U+0000)"},
		{"identifier too long", "", strings.Repeat("я", 256), func(p *Params) { p.PathExternalID("externalId") }, "externalId: must have at most 255 characters, got 256"},
		{"email long", "email=" + strings.Repeat("a", 256), "", func(p *Params) { p.Email("email") }, "email: must have at most 255 characters, got 256"},
		{"email empty", "email=%20", "", func(p *Params) { p.Email("email") }, "email: must not be empty"},
		{"email of bad bytes", "email=a@%FF", "", func(p *Params) { p.Email("email") }, "email: must be valid UTF-8"},
		{"tag empty", "tag=", "", func(p *Params) { p.Tag("tag") }, "tag: must not be empty"},
		{"tag long", "tag=" + strings.Repeat("a", 65), "", func(p *Params) { p.Tag("tag") }, "tag: must have at most 64 characters, got 65"},
		{"status", "status=done", "", func(p *Params) { p.Status("status") }, "status: must be one of assigned, started, completed, failed, needs_retry"},
		{"status empty", "status=", "", func(p *Params) { p.Status("status") }, "status: must be one of assigned, started, completed, failed, needs_retry"},
		{"bool", "bom=1", "", func(p *Params) { p.Bool("bom") }, "bom: must be true or false"},
		{"instant", "updatedSince=yesterday", "", func(p *Params) { p.Instant("updatedSince") }, "updatedSince: must be a date-time with a zone, such as 2026-11-14T09:30:00Z or 2026-11-14T12:30:00+03:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := params(c.query, c.path)
			c.read(p)
			if err := p.Err(); err == nil || err.Error() != c.want || domain.CodeOf(err) != domain.CodeInvalid {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestParamsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query, path string
		read        func(p *Params) any
		want        any
	}{
		{"courseId=310", "", func(p *Params) any { return p.ID("courseId") }, int64(310)},
		{"", "", func(p *Params) any { return p.ID("courseId") }, int64(0)},
		{"", "-3", func(p *Params) any { return p.PathID("id") }, int64(-3)},
		{"", "0", func(p *Params) any { return p.PathID("id") }, int64(0)},
		{"", slashSegment, func(p *Params) any { return p.PathExternalID("externalId") }, "/"},
		{"externalId=a/b+%3F%25", "", func(p *Params) any { return p.ExternalID("externalId") }, "a/b ?%"},
		{"externalId=..", "", func(p *Params) any { return p.ExternalID("externalId") }, ".."},
		{"", "", func(p *Params) any { return p.ExternalID("externalId") }, ""},
		{"email=+Anna@x+", "", func(p *Params) any { return p.Email("email") }, "Anna@x"},
		{"email=nobody", "", func(p *Params) any { return p.Email("email") }, "nobody"},
		{"tag=+cafe\u0301+", "", func(p *Params) any { return p.Tag("tag") }, "café"},
		{"status=needs_retry", "", func(p *Params) any { return p.Status("status") }, domain.StatusNeedsRetry},
		{"", "", func(p *Params) any { return p.Status("status") }, domain.Status("")},
		{"bom=true", "", func(p *Params) any { return p.Bool("bom") }, true},
		{"bom=false", "", func(p *Params) any { return p.Bool("bom") }, false},
		{"", "", func(p *Params) any { return p.Bool("bom") }, false},
		{"", "", func(p *Params) any { return p.Instant("updatedSince") == nil }, true},
	} {
		p := params(c.query, c.path)
		if got := c.read(p); got != c.want || p.Err() != nil {
			t.Errorf("%q, %q: got %v, %v, want %v", c.query, c.path, got, p.Err(), c.want)
		}
	}
}

func TestParamsAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a parameter that the routing table does not name was read")
		}
	}()
	params("", "").Bool("other")
}

func TestQueryInstants(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 11, 14, 9, 30, 0, 0, time.UTC)
	for text, valid := range map[string]bool{
		"2026-11-14T09:30:00Z":             true,
		"2026-11-14T12:30:00+03:00":        true,
		"2026-11-14T12:30:00 03:00":        true, // an unencoded plus
		"2026-11-14T09:30:00 00:00":        true,
		"2026-11-14T09:30:00.000000+00:00": true,
		"2026-11-14T04:30:00-05:00":        true,
		"2026-11-14 09:30:00Z":             false,
		"2026-11-14T12:30:00  03:00":       false,
		"2026-11-14 12:30":                 false,
		"2026-11-14":                       false,
		"2026-11-14T09:30:00":              false,
		" 03:00":                           false,
		"":                                 false,
	} {
		got, err := ParseQueryInstant(text)
		if (err == nil) != valid || valid && !got.Equal(want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query string
		want  Paging
	}{
		{"", Paging{PageRequest: domain.PageRequest{Number: 1, Limit: 50}, Shown: 1}},
		{"page=3&limit=500", Paging{PageRequest: domain.PageRequest{Number: 3, Limit: 500}, Shown: 3}},
		{"page=9223372036854775807&limit=1", Paging{PageRequest: domain.PageRequest{Number: domain.MaxPage, Limit: 1}, Shown: math.MaxInt64}},
	} {
		p := params(c.query, "")
		got := p.Page()
		if diff := cmp.Diff(c.want, got, cmpopts.IgnoreUnexported(Paging{})); diff != "" || p.Err() != nil {
			t.Errorf("%v -want +got:\n%s", p.Err(), diff)
		}
	}
	if int64(domain.MaxPage)*domain.MaxLimit < 0 {
		t.Error("the largest page overflows an offset")
	}
	for total, want := range map[int64]int64{0: 0, 1: 1, 50: 1, 51: 2} {
		if got := (Paging{PageRequest: domain.PageRequest{Limit: 50}}).Pagination(total).Pages; got != want {
			t.Errorf("%d records make %d pages, want %d", total, got, want)
		}
	}
}

func TestWalk(t *testing.T) {
	t.Parallel()
	p := params("page=7&limit=2", "")
	page := p.Walk(domain.ChangeList)
	for want := int64(7); want < 10; want++ {
		if page.Shown != want || page.Number != int(want) {
			t.Fatalf("at page %d, want %d", page.Shown, want)
		}
		filters := url.Values{"employeeExternalId": {"a&b=c d+e>"}, "updatedSince": {"2026-11-14T09:30:00+00:00"}}
		link := page.Next("/api/v1/assignments", filters, domain.Cursor{ID: 40 + want, At: 99, Watermark: 77})
		target, rest, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">")
		if rest != `; rel="next"` {
			t.Fatalf("link %s", link)
		}
		u, err := url.Parse(target)
		if err != nil || u.Path != "/api/v1/assignments" {
			t.Fatal(target, err)
		}
		v := u.Query()
		if v.Get("employeeExternalId") != "a&b=c d+e>" || v.Get("updatedSince") != "2026-11-14T09:30:00+00:00" || v.Get("limit") != "2" || v.Has("page") {
			t.Errorf("link %s", link)
		}
		p = params("limit=2&after="+v.Get("after"), "")
		page = p.Walk(domain.ChangeList)
		wanted := domain.Cursor{ID: 40 + want, At: 99, Watermark: 77, Page: int(want)}
		if page.After == nil || *page.After != wanted {
			t.Fatalf("%+v, want %+v", page.After, wanted)
		}
	}
	if err := p.Err(); err != nil {
		t.Error(err)
	}
}

// Links of lists count pages, so a cursor without a page number was not made for one.
func TestWalkRefusesOtherCursors(t *testing.T) {
	t.Parallel()
	c := domain.Cursor{ID: 1, Page: 1}
	for _, text := range []string{"", "x", c.Format(domain.AssignmentList), domain.Cursor{ID: 1}.Format(domain.ChangeList)} {
		p := params("after="+text, "")
		p.Walk(domain.ChangeList)
		var e *domain.Error
		if err := p.Err(); !errors.As(err, &e) || len(e.Fields) != 1 || e.Fields[0].Field != "after" || !strings.Contains(e.Fields[0].Message, "Link") {
			t.Errorf("%q: %+v", text, err)
		}
	}
}

func TestCheckQuery(t *testing.T) {
	t.Parallel()
	for raw, valid := range map[string]bool{
		"": true, "a=b&c": true, "a=%D0%98": true, "a=b+c": true, "tag=%FF": true,
		"status=%zz": false, "a=%": false, "a=1;b=2": false, "%zz=1": false,
	} {
		if err := checkQuery(raw); (err == nil) != valid {
			t.Errorf("%s: %v", strconv.Quote(raw), err)
		}
	}
}
