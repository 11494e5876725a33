package view

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 11, 14, 10, 30, 5, 0, time.UTC)

func TestRelative(t *testing.T) {
	t.Parallel()
	c := Clock{Now: noon}
	for distance, want := range map[time.Duration]string{
		0:                    "just now",
		44 * time.Second:     "just now",
		45 * time.Second:     "1 min ago",
		90 * time.Second:     "2 min ago",
		59 * time.Minute:     "59 min ago",
		time.Hour:            "1 h ago",
		119 * time.Minute:    "1 h ago",
		24 * time.Hour:       "1 day ago",
		71 * time.Hour:       "2 days ago",
		7 * 24 * time.Hour:   "7 Nov 2026",
		-10 * time.Second:    "in a moment",
		-11 * time.Minute:    "in 11 min",
		-6 * time.Hour:       "in 6 h",
		-25 * time.Hour:      "in 1 day",
		-30 * 24 * time.Hour: "14 Dec 2026",
	} {
		if got := c.Relative(noon.Add(-distance)); got != want {
			t.Errorf("%v ago is %q, want %q", distance, got, want)
		}
	}
}

func TestExactTimes(t *testing.T) {
	t.Parallel()
	riga, err := time.LoadLocation("Europe/Riga")
	if err != nil {
		t.Fatal(err)
	}
	late := time.Date(2026, 11, 14, 22, 30, 5, 0, time.UTC)
	c := Clock{Now: noon, Zone: riga}
	if got, want := c.Exact(late), "15 Nov 2026, 00:30"; got != want {
		t.Errorf("Exact = %q, want %q", got, want)
	}
	if got, want := c.ExactWithUTC(late), "15 Nov 2026, 00:30:05 Europe/Riga\n14 Nov 2026, 22:30:05 UTC"; got != want {
		t.Errorf("Both = %q, want %q", got, want)
	}
	if got, want := (Clock{}).ExactWithUTC(late), "14 Nov 2026, 22:30:05 UTC"; got != want {
		t.Errorf("Both in UTC = %q, want %q", got, want)
	}
	if got, want := c.Input(&late), "2026-11-15T00:30"; got != want {
		t.Errorf("Input = %q, want %q", got, want)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	got := []string{
		formatCount(0), formatCount(999), formatCount(1000), formatCount(1234567), formatCount(-12345),
		plural(1, "delivery", "deliveries"), plural(0, "delivery", "deliveries"), plural(1284, "delivery", "deliveries"),
		formatDuration(80 * time.Microsecond), formatDuration(182 * time.Millisecond), formatDuration(1243 * time.Millisecond), formatDuration(3 * time.Minute),
		formatSize(1), formatSize(642), formatSize(8192),
		formatPercent(0, 0), formatPercent(0, 9), formatPercent(1, 100000), formatPercent(99999, 100000), formatPercent(1, 2), formatPercent(9, 9),
	}
	want := []string{
		"0", "999", "1,000", "1,234,567", "-12,345",
		"1 delivery", "0 deliveries", "1,284 deliveries",
		"under 1 ms", "182 ms", "1.2 s", "3 min",
		"1 byte", "642 bytes", "8.0 KB",
		"–", "0%", "0.1%", "99.9%", "50%", "100%",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTarget(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://hr.example.com/hooks/in?source=x": "hr.example.com/hooks/in",
		"https://hr.example.com:8443/":             "hr.example.com:8443",
		"not an address":                           "not an address",
	} {
		if got := shortURL(address); got != want {
			t.Errorf("shortURL(%q) = %q, want %q", address, got, want)
		}
	}
}

func TestPiecesOfJSON(t *testing.T) {
	t.Parallel()
	text, ok := pretty(`{"a\"b":"c: \\","n":-1.5e3,"t":[true,null]}`)
	if !ok {
		t.Fatal("it is JSON")
	}
	var whole string
	var marked []segment
	for _, p := range segments(text) {
		whole += p.text
		if p.class != "" {
			marked = append(marked, p)
		}
	}
	if whole != text {
		t.Errorf("the segments do not make up the whole: %q", whole)
	}
	want := []segment{
		{"json-key", `"a\"b"`}, {"json-string", `"c: \\"`}, {"json-key", `"n"`}, {"json-literal", "-1.5e3"},
		{"json-key", `"t"`}, {"json-literal", "true"}, {"json-literal", "null"},
	}
	if diff := cmp.Diff(want, marked, cmp.AllowUnexported(segment{})); diff != "" {
		t.Error(diff)
	}
	if _, ok := pretty("<html>"); ok {
		t.Error("HTML passed for JSON")
	}
}

func TestBarsStayInTheirBox(t *testing.T) {
	t.Parallel()
	got := bars([]Bucket{{Delivered: 100}, {Delivered: 1, Retrying: 1, Failed: 98}, {}, {Failed: 1}}, 40, 20)
	want := []bar{
		{class: "bar-delivered", x: "1.00", y: "0.00", width: "8.00", height: "20.00"},
		{class: "bar-delivered", x: "11.00", y: "18.50", width: "8.00", height: "1.50"},
		{class: "bar-retrying", x: "11.00", y: "17.00", width: "8.00", height: "1.50"},
		{class: "bar-failed", x: "11.00", y: "0.00", width: "8.00", height: "17.00"},
		{class: "bar-failed", x: "31.00", y: "18.50", width: "8.00", height: "1.50"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(bar{})); diff != "" {
		t.Error(diff)
	}
}

func TestPathsEscapeTheirIds(t *testing.T) {
	t.Parallel()
	got := []string{
		PathDelivery("a/../b?c"), PathToken(7, "revoke"), PathSignInLink("x/y"),
		withQuery(PathDeliveries, "q", "a&b", "state", ""), withQuery(PathAudit),
	}
	want := []string{
		"/cabinet/deliveries/a%2F..%2Fb%3Fc", "/cabinet/tokens/7/revoke", "/cabinet/enter/x%2Fy",
		"/cabinet/deliveries?q=a%26b", "/cabinet/audit",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSectionsAppearOnceTheyWork(t *testing.T) {
	t.Parallel()
	var got []string
	for _, g := range (Sections{Courses: true}).groups() {
		for _, e := range g.entries {
			got = append(got, e.text)
			if drawings[string(e.section)] == "" {
				t.Errorf("%s has no icon", e.text)
			}
		}
	}
	want := []string{"Home", "Courses", "Overview", "Tokens", "Webhooks", "Deliveries", "Requests", "API docs", "Audit log", "Settings"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
