package service_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

// operatorLink makes a link that the operator vouches for.
func (f fixture) operatorLink(email string, company int64) string {
	f.t.Helper()
	_, token, err := f.administrators.LinkFor(f.t.Context(), operator, domain.LinkRequest{Email: email, CompanyID: company})
	must(f.t, "make an operator's link", err)
	return token
}

// TestOperatorLinkEndsWithPassword checks that a password change ends the operator's
// links, with a company and without one, and leaves invitations alone.
func TestOperatorLinkEndsWithPassword(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, anna := f.companyWithPassword("anna@x.test")
		beta, _ := f.companyWithPassword("bert@x.test")
		gamma, _ := f.companyWithPassword("gina@x.test")
		links := map[string]string{
			"without a company": f.operatorLink("anna@x.test", 0), "into her own company": f.operatorLink("anna@x.test", acme.ID),
			"into another company": f.operatorLink("anna@x.test", beta.ID),
		}
		_, invited, err := f.administrators.Invite(ctx, f.caller(gamma), invitation("anna@x.test"))
		must(f.t, "invite", err)
		must(f.t, "change the password", f.signIn.ChangePassword(ctx, anna.Actor(here), goodPassword, "another violet tram", ""))
		for name, link := range links {
			_, err := f.signIn.Enter(ctx, link, "", here)
			wantErr(f.t, "enter by a link "+name, err, domain.ErrLinkNotFound)
		}
		_, err = f.signIn.Accept(ctx, anna.Actor(here), invited)
		must(f.t, "accept an invitation", err)
		id, err := f.signIn.Identify(ctx, anna.Administrator.ID, beta.ID)
		if err != nil || len(id.Companies) != 3 || id.Company.ID != beta.ID {
			f.t.Errorf("companies after the links ended: %+v, %v, want all three", id.Companies, err)
		}
	})
}

// TestInvitationProvesNothing lets company B take an address that is not its own,
// with a password and a second factor. The person whom the operator vouches for is
// neither shut out nor called by the name that B chose.
func TestInvitationProvesNothing(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		_, eve := f.companyWithPassword("eve@x.test")
		_, link, err := f.administrators.Invite(ctx, eve.Caller(here),
			service.NewInvitation{Email: "owner@x.test", Name: "Eve's friend", Role: domain.CabinetOwner})
		must(f.t, "invite", err)
		squatter := f.enter(link)
		f.factor(squatter)
		f.session(squatter.Administrator.ID, "squatter")

		acme, vouched := f.company("owner@x.test")
		got, err := f.signIn.Link(ctx, vouched)
		if err != nil || got.NeedsCode() {
			f.t.Fatalf("the operator's link: %+v, %v, want one that needs no code", got, err)
		}
		owner := f.enter(vouched)
		if who := owner.Administrator; who.HasSecondFactor || who.Name != "" || who.RecoveryLeft != 0 {
			f.t.Errorf("kept from the invitation: %+v", who)
		}
		if _, _, found := f.find("squatter"); found {
			f.t.Error("the squatter is still signed in")
		}
		id, err := f.signIn.Identify(ctx, owner.Administrator.ID, acme.ID)
		if err != nil || id.Company.ID != acme.ID || id.Role != domain.CabinetOwner {
			f.t.Errorf("the owner's company: %+v, %v", id, err)
		}

		// From now on the second factor is the owner's, and no link goes around it.
		f.exec(`DELETE FROM sign_in_throttles WHERE key LIKE 'step:%'`)
		f.factor(owner)
		got, err = f.signIn.Link(ctx, f.operatorLink("owner@x.test", 0))
		if err != nil || !got.NeedsCode() {
			f.t.Errorf("a later link: %+v, %v, want one that needs the code", got, err)
		}
	})
}

// TestSignInIsLoggedForTheCompanyEntered checks that no company learns of sign-ins
// into another one, neither from its log nor from its list of administrators.
func TestSignInIsLoggedForTheCompanyEntered(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, anna := f.companyWithPassword("anna@x.test")
		beta, _ := f.companyWithPassword("bert@x.test")
		_, link, err := f.administrators.Invite(ctx, f.caller(beta), invitation("anna@x.test"))
		must(f.t, "invite", err)
		_, err = f.signIn.Accept(ctx, anna.Actor(here), link)
		must(f.t, "accept", err)
		before := len(f.actions(beta.ID))
		_, err = f.signIn.Password(ctx, "anna@x.test", goodPassword, here)
		must(f.t, "sign in", err)
		_, err = f.signIn.Password(ctx, "anna@x.test", "wrong", here)
		wantErr(f.t, "a wrong password", err, domain.ErrWrongCredentials)
		if news := f.actions(beta.ID)[before:]; len(news) != 0 {
			f.t.Errorf("the other company's log contains %v", news)
		}
		if last := f.actions(acme.ID); last[len(last)-1] != "sign_in.failed by system" || last[len(last)-2] != "sign_in.succeeded by person" {
			f.t.Errorf("log of the company entered: %v", last)
		}
		lastSignIn := func() *time.Time {
			members, _, err := f.administrators.List(ctx, f.caller(beta))
			must(f.t, "list", err)
			i := slices.IndexFunc(members, func(m domain.Member) bool { return m.ID == anna.Administrator.ID })
			return members[i].LastSignInAt
		}
		if at := lastSignIn(); at != nil {
			f.t.Errorf("the other company sees a sign-in at %v", at)
		}
		id, err := f.signIn.Identify(ctx, anna.Administrator.ID, acme.ID)
		must(f.t, "identify", err)
		must(f.t, "switch", f.signIn.SwitchCompany(ctx, id, beta.ID, here))
		if diff := cmp.Diff([]string{"sign_in.succeeded by person"}, f.actions(beta.ID)[before:]); diff != "" || lastSignIn() == nil {
			f.t.Errorf("after switching to the other company: %v, %s", lastSignIn(), diff)
		}
	})
}

// TestUnusedIdentitiesAreRemoved checks that nothing stays of people who were
// invited and never came, nor the identity of someone who serves no company.
func TestUnusedIdentitiesAreRemoved(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		_, anna := f.companyWithPassword("anna@x.test")
		c := anna.Caller(here)
		exists := func(email string) int {
			return f.count(`SELECT count(*) FROM administrators WHERE email_folded = $1`, email)
		}
		gone, _, err := f.administrators.Invite(ctx, c, invitation("gone@x.test"))
		must(f.t, "invite", err)
		_, _, err = f.administrators.Invite(ctx, c, invitation("late@x.test"))
		must(f.t, "invite", err)
		bob := f.join(c, "bob@x.test")

		must(f.t, "uninvite", f.administrators.Uninvite(ctx, c, gone.ID))
		if exists("gone@x.test") != 0 {
			f.t.Error("a withdrawn invitation leaves an identity")
		}
		must(f.t, "sweep", f.sessions.Sweep(ctx))
		if exists("late@x.test") != 1 {
			f.t.Error("a sweep removes an identity with an open invitation")
		}
		f.exec(`UPDATE sign_in_links SET expires_at = $1 WHERE used_at IS NULL`, f.store.Now().Add(-time.Second))
		must(f.t, "sweep", f.sessions.Sweep(ctx))
		if exists("late@x.test") != 0 {
			f.t.Error("an expired invitation leaves an identity")
		}
		must(f.t, "remove", f.administrators.Remove(ctx, c, bob.Administrator.ID))
		if exists("bob@x.test") != 0 {
			f.t.Error("an administrator who serves no company keeps an identity")
		}
		page, err := f.audit.List(ctx, c, domain.AuditFilter{Action: "administrator.removed"}, domain.PageRequest{Limit: 10})
		if err != nil || len(page.Items) != 1 || page.Items[0].RecordLabel != "bob@x.test" {
			f.t.Errorf("what the log shows of someone removed: %+v, %v", page.Items, err)
		}
		f.exec(`UPDATE former_administrators SET removed_at = $1`, f.store.Now().Add(-2*time.Hour))
		must(f.t, "expire the log", f.store.ExpireAudit(ctx, f.store.Now().Add(-time.Hour)))
		if n := f.count(`SELECT count(*) FROM former_administrators`); n != 0 {
			f.t.Error("the label outlives the log")
		}
	})
}

func TestRoles(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, anna := f.companyWithPassword("anna@x.test")
		c := anna.Caller(here)
		wantErr(f.t, "demote the last owner", f.administrators.SetRole(ctx, c, anna.Administrator.ID, domain.CabinetViewer), domain.ErrLastOwner)
		wantErr(f.t, "remove the last owner", f.administrators.Remove(ctx, c, anna.Administrator.ID), domain.ErrLastOwner)
		_, link, err := f.administrators.Invite(ctx, c, service.NewInvitation{Email: "vera@x.test", Role: domain.CabinetViewer})
		must(f.t, "invite a viewer", err)
		vera := f.enter(link)
		if vera.Role != domain.CabinetViewer {
			f.t.Errorf("an invited viewer is %s", vera.Role)
		}
		_, _, err = f.tokens.Create(ctx, vera.Caller(here), domain.NewToken{Name: "x"})
		wantErr(f.t, "a viewer creates a token", err, domain.ErrViewerOnly)
		wantErr(f.t, "the last owner leaves while there is a viewer", f.administrators.Remove(ctx, c, anna.Administrator.ID), domain.ErrLastOwner)

		must(f.t, "promote", f.administrators.SetRole(ctx, c, vera.Administrator.ID, domain.CabinetAdministrator))
		vera, err = f.signIn.Identify(ctx, vera.Administrator.ID, acme.ID)
		must(f.t, "identify", err)
		_, _, err = f.tokens.Create(ctx, vera.Caller(here), domain.NewToken{Name: "x"})
		must(f.t, "an administrator creates a token", err)
		_, _, err = f.administrators.Invite(ctx, vera.Caller(here), invitation("w@x.test"))
		wantErr(f.t, "an administrator invites", err, domain.ErrOwnersOnly)
		wantErr(f.t, "an administrator promotes themselves",
			f.administrators.SetRole(ctx, vera.Caller(here), vera.Administrator.ID, domain.CabinetOwner), domain.ErrOwnersOnly)
		wantCode(f.t, "an unknown role", f.administrators.SetRole(ctx, c, vera.Administrator.ID, "god"), domain.CodeInvalid)

		// Two owners who demote each other at once leave one.
		must(f.t, "promote", f.administrators.SetRole(ctx, c, vera.Administrator.ID, domain.CabinetOwner))
		owners := []int64{anna.Administrator.ID, vera.Administrator.ID}
		errs := together(2, func(i int) error {
			by := domain.Caller{Company: acme, Actor: operator}
			return f.administrators.SetRole(ctx, by, owners[i], domain.CabinetViewer)
		})
		if n := succeeded(errs); n != 1 {
			f.t.Errorf("%d of two owners were demoted at once: %v", n, errs)
		}
	})
}
