package httpapi

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// given is a parameter that is there, absent one that is not.
type (
	given  string
	absent struct{}
)

func (g given) Get() (string, bool) { return string(g), true }
func (absent) Get() (string, bool)  { return "", false }

func TestQueryRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		read func(q *Query)
		want string
	}{
		{"page 0", func(q *Query) { q.Page(given("0"), absent{}) }, "page: must be a positive integer"},
		{"page -1", func(q *Query) { q.Page(given("-1"), absent{}) }, "page: must be a positive integer"},
		{"page empty", func(q *Query) { q.Page(given(""), absent{}) }, "page: must be a positive integer"},
		{"page too large", func(q *Query) { q.Page(given("9223372036854775808"), absent{}) }, "page: must be a positive integer of at most 18 digits"},
		{"limit 0", func(q *Query) { q.Page(absent{}, given("0")) }, "limit: must be an integer from 1 to 500"},
		{"limit 501", func(q *Query) { q.Page(absent{}, given("501")) }, "limit: must be an integer from 1 to 500"},
		{"limit 1.0", func(q *Query) { q.Page(absent{}, given("1.0")) }, "limit: must be an integer from 1 to 500"},
		{"limit +5", func(q *Query) { q.Page(absent{}, given("+5")) }, "limit: must be an integer from 1 to 500"},
		{"limit spaced", func(q *Query) { q.Page(absent{}, given(" 5")) }, "limit: must be an integer from 1 to 500"},
		{"limit hex", func(q *Query) { q.Page(absent{}, given("0x10")) }, "limit: must be an integer from 1 to 500"},
		{"both", func(q *Query) { q.Page(given("x"), given("y")) }, "page: must be a positive integer; limit: must be an integer from 1 to 500"},
		{"after", func(q *Query) { q.Walk(Employees, absent{}, absent{}, given("x")) }, "after: " + errCursor.Error()},
		{"after empty", func(q *Query) { q.Walk(Employees, absent{}, absent{}, given("")) }, "after: " + errCursor.Error()},
		{"course x", func(q *Query) { q.ID("courseId", given("x")) }, "courseId: must be an integer"},
		{"course too large", func(q *Query) { q.ID("courseId", given("99999999999999999999")) }, "courseId: must be an integer of at most 18 digits"},
		{"id", func(q *Query) { q.PathID("id", "seven") }, "id: must be an integer"},
		{"id of a float", func(q *Query) { q.PathID("id", "7.0") }, "id: must be an integer"},
		{"id too large", func(q *Query) { q.PathID("id", "99999999999999999999") }, "id: must be an integer of at most 18 digits"},
		{"identifier empty", func(q *Query) { q.Identifier("externalId", given("")) }, "externalId: must not be empty"},
		{"identifier spaced", func(q *Query) { q.Identifier("externalId", given(" a")) }, "externalId: must not begin or end with white space"},
		{"identifier of bad bytes", func(q *Query) { q.PathIdentifier("externalId", "\xff") }, "externalId: must be valid UTF-8"},
		{"identifier with a zero", func(q *Query) { q.PathIdentifier("externalId", "a\x00b") }, "externalId: must not contain control characters (found U+0000)"},
		{"identifier too long", func(q *Query) { q.PathIdentifier("externalId", strings.Repeat("я", 256)) }, "externalId: must have at most 255 characters, got 256"},
		{"email long", func(q *Query) { q.Email("email", given(strings.Repeat("a", 256))) }, "email: must have at most 255 characters, got 256"},
		{"email empty", func(q *Query) { q.Email("email", given(" ")) }, "email: must not be empty"},
		{"email of bad bytes", func(q *Query) { q.Email("email", given("a@\xff")) }, "email: must be valid UTF-8"},
		{"tag empty", func(q *Query) { q.Tag("tag", given("")) }, "tag: must not be empty"},
		{"tag long", func(q *Query) { q.Tag("tag", given(strings.Repeat("a", 65))) }, "tag: must have at most 64 characters, got 65"},
		{"status", func(q *Query) { q.Status("status", given("done")) }, "status: must be one of assigned, started, completed, failed, needs_retry"},
		{"status empty", func(q *Query) { q.Status("status", given("")) }, "status: must be one of assigned, started, completed, failed, needs_retry"},
		{"bool", func(q *Query) { q.Bool("bom", given("1")) }, "bom: must be true or false"},
		{"instant", func(q *Query) { q.Instant("updatedSince", given("yesterday")) }, "updatedSince: must be a date-time with a zone, such as 2026-11-14T09:30:00Z or 2026-11-14T12:30:00+03:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var q Query
			c.read(&q)
			if err := q.Err(); err == nil || err.Error() != c.want || domain.CodeOf(err) != domain.CodeInvalid {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestQueryReads(t *testing.T) {
	t.Parallel()
	var q Query
	for _, c := range []struct{ got, want any }{
		{q.ID("c", given("310")), int64(310)},
		{q.ID("c", absent{}), int64(0)},
		{q.PathID("id", "-3"), int64(-3)},
		{q.PathID("id", "0"), int64(0)},
		{q.Identifier("e", given("a/b ?%")), "a/b ?%"},
		{q.Identifier("e", given("..")), ".."},
		{q.Identifier("e", absent{}), ""},
		{q.Email("m", given(" Anna@x ")), "Anna@x"},
		{q.Email("m", given("nobody")), "nobody"},
		{q.Tag("t", given(" cafe\u0301 ")), "café"},
		{q.Status("s", given("needs_retry")), domain.StatusNeedsRetry},
		{q.Status("s", absent{}), domain.Status("")},
		{q.Bool("b", given("true")), true},
		{q.Bool("b", given("false")), false},
		{q.Bool("b", absent{}), false},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
	if q.Instant("u", absent{}) != nil {
		t.Error("an instant out of nothing")
	}
	if err := q.Err(); err != nil {
		t.Error(err)
	}
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
		page, limit Opt
		want        Paging
	}{
		{absent{}, absent{}, Paging{PageRequest: domain.PageRequest{Number: 1, Limit: 50}, Shown: 1}},
		{given("3"), given("500"), Paging{PageRequest: domain.PageRequest{Number: 3, Limit: 500}, Shown: 3}},
		{given("9223372036854775807"), given("1"), Paging{PageRequest: domain.PageRequest{Number: maxPage, Limit: 1}, Shown: math.MaxInt64}},
	} {
		var q Query
		got := q.Page(c.page, c.limit)
		if diff := cmp.Diff(c.want, got, cmpopts.IgnoreUnexported(Paging{})); diff != "" || q.Err() != nil {
			t.Errorf("%v -want +got:\n%s", q.Err(), diff)
		}
	}
	if int64(maxPage)*domain.MaxLimit < 0 {
		t.Error("the largest page overflows an offset")
	}
	for total, want := range map[int64]int64{0: 0, 1: 1, 50: 1, 51: 2} {
		if got := (Paging{PageRequest: domain.PageRequest{Limit: 50}}).Pages(total); got != want {
			t.Errorf("%d records make %d pages, want %d", total, got, want)
		}
	}
}

func TestWalk(t *testing.T) {
	t.Parallel()
	var q Query
	page := q.Walk(Changes, given("7"), given("2"), absent{})
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
		page = q.Walk(Changes, absent{}, given("2"), given(v.Get("after")))
		wanted := domain.Cursor{ID: 40 + want, At: 99, Watermark: 77, Page: int(want)}
		if page.After == nil || *page.After != wanted {
			t.Fatalf("%+v, want %+v", page.After, wanted)
		}
	}
	if err := q.Err(); err != nil {
		t.Error(err)
	}
}

func TestCursors(t *testing.T) {
	t.Parallel()
	c := domain.Cursor{ID: math.MaxInt64, At: math.MaxInt64, Watermark: math.MaxInt64, Page: maxPage}
	text := FormatCursor(Changes, c)
	if got, err := ParseCursor(Changes, text); err != nil || got != c || len(text) > 512 {
		t.Errorf("%s: %+v, %v", text, got, err)
	}
	bad := []string{
		"", "A", "AA", "eyJpIjo4ODEyMH0", text + "A", text[1:], text[:len(text)-1], text + "=", " " + text, strings.Repeat("A", 4096),
		FormatCursor(Assignments, c), FormatCursor(Employees, c),
		FormatCursor(Changes, domain.Cursor{ID: -1, Page: 1}),
		FormatCursor(Changes, domain.Cursor{ID: 1, Page: 0}),
		FormatCursor(Changes, domain.Cursor{ID: 1, Page: maxPage + 1}),
	}
	for i := range text {
		other := byte('A')
		if text[i] == other {
			other = 'B'
		}
		bad = append(bad, text[:i]+string(other)+text[i+1:])
	}
	for _, s := range bad {
		if got, err := ParseCursor(Changes, s); err == nil {
			t.Errorf("%s was taken for %+v", s, got)
		}
	}
}

func TestCheckQuery(t *testing.T) {
	t.Parallel()
	for raw, valid := range map[string]bool{
		"": true, "a=b&c": true, "a=%D0%98": true, "a=b+c": true, "tag=%FF": true,
		"status=%zz": false, "a=%": false, "a=1;b=2": false, "%zz=1": false,
	} {
		if err := CheckQuery(raw); (err == nil) != valid {
			t.Errorf("%s: %v", strconv.Quote(raw), err)
		}
	}
}
