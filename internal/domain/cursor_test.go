package domain

import (
	"math"
	"strings"
	"testing"
)

var lists = []List{EmployeeList, AssignmentList, ChangeList, DeliveryList, AuditList}

func TestCursors(t *testing.T) {
	t.Parallel()
	c := Cursor{ID: math.MaxInt64, At: math.MaxInt64, Watermark: math.MaxInt64, Page: MaxPage}
	text := c.Format(ChangeList)
	if got, err := ParseCursor(ChangeList, text); err != nil || got != c || len(text) > 512 {
		t.Errorf("%s: %+v, %v", text, got, err)
	}
	bad := []string{
		"", "A", "AA", "eyJpIjo4ODEyMH0", text + "A", text[1:], text[:len(text)-1], text + "=", " " + text, strings.Repeat("A", 4096),
		c.Format(AssignmentList), c.Format(EmployeeList), c.Format(AuditList),
		Cursor{ID: -1, Page: 1}.Format(ChangeList),
		Cursor{ID: 1, Page: -1}.Format(ChangeList),
		Cursor{ID: 1, Watermark: -1, Page: 1}.Format(ChangeList),
		Cursor{ID: 1, Page: MaxPage + 1}.Format(ChangeList),
		Cursor{UUID: "0190aa11-0000-7000-8000-000000000001", Page: 1}.Format(ChangeList),
	}
	for i := range text {
		other := byte('A')
		if text[i] == other {
			other = 'B'
		}
		bad = append(bad, text[:i]+string(other)+text[i+1:])
	}
	for _, s := range bad {
		if got, err := ParseCursor(ChangeList, s); err == nil {
			t.Errorf("%s was taken for %+v", s, got)
		}
	}
}

// A list by deadline can be continued after a deadline before 1970.
func TestCursorOfAnEarlyDeadline(t *testing.T) {
	t.Parallel()
	want := Cursor{ID: 7, At: -62135596800000}
	if got, err := ParseCursor(CabinetList, want.Format(CabinetList)); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestCursorOfADelivery(t *testing.T) {
	t.Parallel()
	want := Cursor{At: 1794818921123, UUID: "0190aa11-0000-7000-8000-000000000001"}
	text := want.Format(DeliveryList)
	if got, err := ParseCursor(DeliveryList, text); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, other := range []string{"", "1", "not-a-uuid", strings.ToUpper("0190aa11-0000-7000-8000-00000000000a"), strings.Repeat("1", 36)} {
		if got, err := ParseCursor(DeliveryList, Cursor{At: 1, UUID: other}.Format(DeliveryList)); err == nil {
			t.Errorf("%q was taken for %+v", other, got)
		}
	}
}

// The first version of the format is in links that clients have stored.
func TestCursorsOfOlderLinks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		list   List
		cursor Cursor
	}{
		"AWWkEAAAAliSRcY":                {EmployeeList, Cursor{ID: 1042, Page: 1}},
		"AWHw4AoAAA4xCosD":               {AssignmentList, Cursor{ID: 88120, Page: 7}},
		"AWPw4ArQyNq4vGiAudq4vGgG8bfh2Q": {ChangeList, Cursor{ID: 88120, At: 1794818921000, Watermark: 1794818920000, Page: 3}},
	} {
		if got, err := ParseCursor(want.list, text); err != nil || got != want.cursor {
			t.Errorf("%s: got %+v, %v, want %+v", text, got, err, want.cursor)
		}
	}
}

func FuzzParseCursor(f *testing.F) {
	f.Add(Cursor{ID: 88120, At: 1794818921000, Watermark: 1794818920000, Page: 3}.Format(ChangeList))
	f.Add(Cursor{ID: 1, Page: 1}.Format(EmployeeList))
	f.Add(Cursor{At: 1794818921123, UUID: "0190aa11-0000-7000-8000-000000000001"}.Format(DeliveryList))
	f.Add("eyJpIjo4ODEyMH0")
	f.Fuzz(func(t *testing.T, s string) {
		for _, list := range lists {
			c, err := ParseCursor(list, s)
			if err == nil && c.Format(list) != s {
				t.Fatalf("%q is another way to write %+v", s, c)
			}
		}
	})
}
