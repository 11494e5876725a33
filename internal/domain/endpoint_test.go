package domain

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEndpointKeyTravels(t *testing.T) {
	t.Parallel()
	key := EndpointKey{CompanyID: 7, ID: 42}
	if got, err := ParseEndpointKey(key.String()); err != nil || got != key {
		t.Errorf("%v came back as %v, %v", key, got, err)
	}
	for _, text := range []string{"", "7", "7:", ":42", "7:x", "7:42:1"} {
		if _, err := ParseEndpointKey(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func TestEndpointInputIsChecked(t *testing.T) {
	t.Parallel()
	in := EndpointInput{URL: " https://x.example.com ", Description: " HR ", Events: []EventKind{EventEmployeeJoined, EventEmployeeJoined}}
	if err := in.Normalize(); err != nil {
		t.Fatal(err)
	}
	want := EndpointInput{URL: "https://x.example.com", Description: "HR", Events: []EventKind{EventEmployeeJoined}}
	if diff := cmp.Diff(want, in); diff != "" {
		t.Errorf("checked (- want):\n%s", diff)
	}
	bad := EndpointInput{URL: "https://x.example.com/" + strings.Repeat("a", MaxEndpointURL), Description: strings.Repeat("d", MaxDescription+1)}
	err := bad.Normalize()
	for _, field := range []string{"url: ", "description: ", "events: "} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%v does not name %s", err, field)
		}
	}
}

func TestRedeliveryFilterIsFilledIn(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000).UTC()
	var f RedeliveryFilter
	if err := f.Normalize(now); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]DeliveryState{DeliveryFailed, DeliveryHeld}, f.States); diff != "" || !f.To.Equal(now) || f.From.UnixMilli() != 0 {
		t.Errorf("filled in as %+v", f)
	}
	later := now.Add(time.Second)
	for _, bad := range []RedeliveryFilter{
		{States: []DeliveryState{DeliveryPending}}, {Kind: "no.such"}, {From: &later, To: &now},
	} {
		if err := bad.Normalize(now); CodeOf(err) != CodeInvalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestDeliveryShowsThatItIsRetried(t *testing.T) {
	t.Parallel()
	for d, want := range map[string]struct {
		delivery Delivery
		retrying bool
	}{
		"new":        {Delivery{State: DeliveryPending}, false},
		"tried":      {Delivery{State: DeliveryPending, Attempts: 1}, true},
		"sent again": {Delivery{State: DeliveryPending, Attempts: 6, RoundStart: 6}, false},
		"failed":     {Delivery{State: DeliveryFailed, Attempts: 6}, false},
	} {
		if got := want.delivery.Retrying(); got != want.retrying {
			t.Errorf("%s: %v", d, got)
		}
	}
}

func TestCurlIsSafeToPaste(t *testing.T) {
	t.Parallel()
	a := Attempt{URL: "https://x.example.com/a?b=$HOME", RequestHeaders: []Header{
		{"Host", "x.example.com"}, {"Content-Length", "9"}, {"X-Service-Event", "employee.joined"},
	}}
	want := `curl -X POST 'https://x.example.com/a?b=$HOME' \
  -H 'X-Service-Event: employee.joined' \
  --data-raw '{"n":"O'\''Hara"}'`
	if diff := cmp.Diff(want, a.Curl([]byte(`{"n":"O'Hara"}`))); diff != "" {
		t.Errorf("curl (- want):\n%s", diff)
	}
}
