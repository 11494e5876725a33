package domain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestLinks(t *testing.T) {
	t.Parallel()
	for _, kind := range []domain.LinkKind{domain.LinkOperator, domain.LinkInvitation} {
		token := domain.GenerateLink(kind)
		hash, got, ok := domain.ParseLink(token)
		if !ok || got != kind || len(token) != 44 {
			t.Errorf("link %q: kind %c, %v", token, got, ok)
		}
		// The holder of an invitation cannot turn it into a link of the operator.
		if changed, _, _ := domain.ParseLink("o" + token[1:]); kind == domain.LinkInvitation && changed == hash {
			t.Error("the hash does not cover the kind")
		}
		for _, bad := range []string{"", token[1:], token + "x", "x" + token[1:]} {
			if _, _, ok := domain.ParseLink(bad); ok {
				t.Errorf("%q passes for a link", bad)
			}
		}
	}
}

func TestSignsIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    domain.LinkKind
		claimed bool
		want    bool
	}{
		{domain.LinkOperator, false, true},
		{domain.LinkOperator, true, true},
		{domain.LinkInvitation, false, true},
		{domain.LinkInvitation, true, false},
	} {
		if got := (domain.SignInLink{Kind: c.kind, Claimed: c.claimed}).SignsIn(); got != c.want {
			t.Errorf("kind %c, claimed %v: %v", c.kind, c.claimed, got)
		}
	}
}

func TestProfile(t *testing.T) {
	t.Parallel()
	p := domain.Profile{Name: "  Anna  ", Theme: "dark"}
	if err := p.Normalize(); err != nil || p.Name != "Anna" {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range []domain.Profile{{Theme: "pink"}, {Name: "a\x00b", Theme: "dark"}} {
		if domain.CodeOf(bad.Normalize()) != domain.CodeInvalid {
			t.Errorf("%+v was taken", bad)
		}
	}
}

func TestSessionExpiry(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 11, 14, 9, 30, 0, 0, time.UTC)
	for after, want := range map[time.Duration]time.Duration{
		0:                                    domain.SessionIdle,
		time.Hour:                            time.Hour + domain.SessionIdle,
		domain.SessionLifetime - time.Minute: domain.SessionLifetime,
	} {
		if got := domain.SessionExpiry(made, made.Add(after)).Sub(made); got != want {
			t.Errorf("used after %v: ends after %v, want %v", after, got, want)
		}
	}
}

func TestCompanySettings(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	number := func(n int) *int { return &n }
	c := domain.Company{Name: "Acme", TimeZone: "UTC", DefaultDeadlineDays: 30}
	in := domain.CompanySettings{Name: text(" Acme Ltd "), TimeZone: text("UTC"), DefaultDeadlineDays: number(14)}
	if err := in.Normalize(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(in.Apply(&c), ","); got != "name,default deadline" || c.Name != "Acme Ltd" || c.DefaultDeadlineDays != 14 {
		t.Errorf("changed %s: %+v", got, c)
	}
	if zone, err := (domain.Company{TimeZone: "Mars/Olympus"}).Location(); err == nil {
		t.Errorf("a zone that cannot be loaded became %s", zone)
	}
	for _, bad := range []domain.CompanySettings{
		{Name: text(" ")}, {TimeZone: text("Mars/Olympus")}, {TimeZone: text("Local")}, {DefaultDeadlineDays: number(0)}, {DefaultDeadlineDays: number(3651)},
	} {
		if domain.CodeOf(bad.Normalize()) != domain.CodeInvalid {
			t.Errorf("%+v was taken", bad)
		}
	}
}

func TestAuditFilter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 14, 9, 30, 0, 0, time.UTC)
	if err := (domain.AuditFilter{Action: "token.", Actor: domain.ActorPerson, From: &now}).Check(); err != nil {
		t.Error(err)
	}
	for _, bad := range []domain.AuditFilter{{Actor: "robot"}, {From: &now, To: &now}} {
		if domain.CodeOf(bad.Check()) != domain.CodeInvalid {
			t.Errorf("%+v was taken", bad)
		}
	}
}
