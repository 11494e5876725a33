package domain_test

import (
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestLoggedBodies(t *testing.T) {
	t.Parallel()
	const provision = `{"externalId":"emp-7","email":"Anna@Example.com","name":"Anna Kalniņa","tags":["night shift",5],"nick":"Anniņa","phone":37120000000}`
	for _, tc := range []struct {
		name   string
		bodies domain.RequestBodies
		body   string
		want   string
	}{
		{"masks every personal field", "", provision,
			`{"externalId": "•••", "email": "•••", "name": "•••", "tags": ["•••", •••], "nick": "•••", "phone": •••}`},
		{"shows the chosen fields", domain.MaskFields([]string{"email", "name"}), provision,
			`{"externalId": "emp-7", "email": "•••", "name": "•••", "tags": ["night shift", 5], "nick": "•••", "phone": •••}`},
		{"keeps nothing when off", domain.RequestBodiesOff, provision, ``},
		{"shows fields without personal data", "",
			`{"items":[{"courseId":7,"deadline":"2026-11-14","isRequired":true,"employeeExternalId":"emp-7","x":null}]}`,
			`{"items": [{"courseId": 7, "deadline": "2026-11-14", "isRequired": true, "employeeExternalId": "•••", "x": null}]}`},
		{"masks words in a field of numbers", "", `{"deadline":"before Anna leaves"}`, `{"deadline": "•••"}`},
		{"masks a name of a field that may be data", "", `{"anna@example.com":1}`, `{"•••": •••}`},
		{"ends where a body stops being JSON", "", `{"name":"Anna" "email":"a@b.c"}`, `{"name": "•••"… (not JSON from here on)`},
		{"masks a body that is no object", "", `"anna@example.com"`, `"•••"`},
		{"keeps an empty body", "", ``, ``},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := tc.bodies.Log(domain.FailedRequest{Body: []byte(tc.body)}); got.Text != tc.want {
				t.Errorf("got  %s\nwant %s", got.Text, tc.want)
			}
		})
	}
}

func TestLoggedMessagesAreMasked(t *testing.T) {
	t.Parallel()
	r := domain.FailedRequest{
		Body: []byte(`{"externalId":"emp-7"}`), Message: `Another employee already has the externalId "emp-7", with a different email.`,
	}
	if got := domain.RequestBodies("").Log(r).Message; strings.Contains(got, "emp-7") || !strings.Contains(got, domain.Mask) {
		t.Errorf("masked: %s", got)
	}
	if got := domain.RequestBodies("externalId").Log(r).Message; got != r.Message {
		t.Errorf("shown: %s", got)
	}
	for name, body := range map[string]string{
		"after what the log keeps": `{"pad":[` + strings.Repeat("0,", domain.MaxLoggedBody) + `0],"externalId":"emp-7"}`,
		"after what is not JSON":   `{"pad" 1,"externalId":"emp-7"}`,
	} {
		r.Body = []byte(body)
		if got := domain.RequestBodies("externalId").Log(r).Message; strings.Contains(got, "emp-7") {
			t.Errorf("a value %s is in the message: %s", name, got)
		}
	}
	if got := domain.RequestBodiesOff.Log(r).Message; strings.Contains(got, "emp-7") {
		t.Errorf("without bodies: %s", got)
	}
}

func TestLoggedBodiesAreBounded(t *testing.T) {
	t.Parallel()
	body := []byte(`{"tags":["` + strings.Repeat("x", domain.MaxLoggedBody) + `","` + strings.Repeat(`y","`, 1<<17) + `"]}`)
	for _, bodies := range []domain.RequestBodies{"", "tags"} {
		got := bodies.Log(domain.FailedRequest{Body: body})
		if len(got.Text) > domain.MaxLoggedBody || !strings.HasSuffix(got.Text, "…") {
			t.Errorf("%q keeps %d bytes that end with %q", bodies, len(got.Text), got.Text[max(0, len(got.Text)-10):])
		}
	}
}

// What the log shows of a person is found by any value that names the person, also
// by one that is masked or stands in the path.
func TestLoggedBodiesAreFoundByMention(t *testing.T) {
	t.Parallel()
	r := domain.FailedRequest{Subject: "emp-7", Body: []byte(`{"name":"Anna","email":"anna@example.com","deadline":"2026-11-14"}`)}
	if got := domain.RequestBodies("").Log(r).Mentions; len(got) != 0 {
		t.Errorf("a masked body has %d mentions", len(got))
	}
	got := domain.RequestBodies("name").Log(r).Mentions
	found := map[int64]bool{}
	for _, digest := range got {
		found[digest] = true
	}
	for _, value := range []string{"emp-7", "Anna", "ANNA@example.com"} {
		if !found[domain.DigestMention(value)] {
			t.Errorf("%s is not mentioned", value)
		}
	}
	if len(got) != 3 {
		t.Errorf("%d mentions, want 3", len(got))
	}
}
