package service_test

import (
	"slices"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestFirstEntry(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, token := f.company("Anna@x.test")
		link, err := f.signIn.Link(ctx, token)
		if err != nil || !link.SignsIn() || link.Administrator.Email != "Anna@x.test" || link.CompanyName != "Acme" || link.CompanyID != acme.ID {
			f.t.Errorf("link %+v, %v", link, err)
		}
		if left := link.ExpiresAt.Sub(f.store.Now()); left > domain.LinkLifetime || left < domain.LinkLifetime-time.Minute {
			f.t.Errorf("the link lasts %v", left)
		}
		_, err = f.signIn.Link(ctx, token) // looking does not use it
		must(f.t, "look again", err)
		who, err := f.signIn.Enter(ctx, token, "", here)
		if err != nil || who.HasPassword || who.LastSignInAt == nil {
			f.t.Errorf("enter: %+v, %v", who, err)
		}
		id, err := f.signIn.Identify(ctx, who.ID, 0)
		if err != nil || id.Company != acme || len(id.Companies) != 1 {
			f.t.Errorf("identity %+v, %v", id, err)
		}
		for name, bad := range map[string]string{"used": token, "made up": domain.GenerateLink(domain.LinkOperator), "no link": "x"} {
			_, err = f.signIn.Enter(ctx, bad, "", here)
			wantErr(f.t, name, err, domain.ErrLinkNotFound)
			_, err = f.signIn.Link(ctx, bad)
			wantErr(f.t, name, err, domain.ErrLinkNotFound)
			_, err = f.signIn.Accept(ctx, id.Actor(here), bad)
			wantErr(f.t, name, err, domain.ErrLinkNotFound)
		}
		if n := f.count(`SELECT count(*) FROM sign_in_links WHERE hash = $1`, []byte(token)); n != 0 {
			f.t.Error("the link itself is stored")
		}
	})
}

func TestLinkExpires(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		_, token := f.company("anna@x.test")
		f.exec(`UPDATE sign_in_links SET expires_at = $1`, f.store.Now())
		_, err := f.signIn.Enter(f.t.Context(), token, "", here)
		wantErr(f.t, "enter", err, domain.ErrLinkNotFound)
		_, renewed, err := f.administrators.LinkFor(f.t.Context(), operator, domain.LinkRequest{Email: "ANNA@x.test"})
		must(f.t, "make a new link", err)
		f.enter(renewed)
	})
}

func TestLinkRace(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		_, token := f.company("anna@x.test")
		errs := together(8, func(int) error {
			_, err := f.signIn.Enter(f.t.Context(), token, "", here)
			return err
		})
		if n := succeeded(errs); n != 1 {
			f.t.Errorf("%d of 8 entered by one link: %v", n, errs)
		}
	})
}

// Two companies invite someone whom nobody knows yet. Each holds its own link;
// whoever comes first owns the identity, and the other link opens nothing.
func TestInvitationsDoNotCross(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, _ := f.company("anna@x.test")
		evil, _ := f.company("eve@x.test")
		_, mine, err := f.administrators.Invite(ctx, f.caller(acme), invitation("bob@x.test"))
		must(f.t, "invite", err)
		_, theirs, err := f.administrators.Invite(ctx, f.caller(evil), invitation("bob@x.test"))
		must(f.t, "invite", err)
		links := []string{mine, theirs}
		errs := together(2, func(i int) error {
			_, err := f.signIn.Enter(ctx, links[i], "", here)
			return err
		})
		if succeeded(errs) != 1 {
			f.t.Fatalf("both entered, or none: %v", errs)
		}
		late := slices.IndexFunc(errs, func(err error) bool { return err != nil })
		wantErr(f.t, "the late one", errs[late], domain.ErrLinkNeedsSignIn)
		who, _, err := f.store.AdministratorByEmail(ctx, "bob@x.test")
		must(f.t, "find", err)
		id, err := f.signIn.Identify(ctx, who.ID, 0)
		if err != nil || len(id.Companies) != 1 || id.Company.ID != []int64{acme.ID, evil.ID}[1-late] {
			f.t.Errorf("serves %+v, %v", id.Companies, err)
		}
	})
}

// A company's administrator, who sees the link, must not get at an identity that
// another company trusts: neither one in use nor one that waits for its owner.
func TestInvitationOpensNoOther(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		evil, _ := f.companyWithPassword("eve@x.test")
		acme, anna := f.companyWithPassword("anna@x.test")
		f.company("waits@x.test")
		for _, email := range []string{"anna@x.test", "waits@x.test"} {
			_, token, err := f.administrators.Invite(ctx, f.caller(evil), invitation(email))
			must(f.t, "invite", err)
			link, err := f.signIn.Link(ctx, token)
			if err != nil || link.SignsIn() {
				f.t.Errorf("%s: the link signs in, %v", email, err)
			}
			_, err = f.signIn.Enter(ctx, token, "", here)
			wantErr(f.t, email, err, domain.ErrLinkNeedsSignIn)
			// Nor by making it look like the operator's.
			_, err = f.signIn.Enter(ctx, "o"+token[1:], "", here)
			wantErr(f.t, email, err, domain.ErrLinkNotFound)
		}
		_, token, err := f.administrators.Invite(ctx, f.caller(evil), invitation("anna@x.test"))
		must(f.t, "invite again", err)
		if id, err := f.signIn.Identify(ctx, anna.Administrator.ID, evil.ID); err != nil || id.Company.ID != acme.ID {
			f.t.Errorf("serves %d before accepting, %v", id.Company.ID, err)
		}
		_, eve := f.companyWithPassword("eve2@x.test")
		_, err = f.signIn.Accept(ctx, eve.Actor(here), token)
		wantErr(f.t, "accept another's", err, domain.ErrLinkOfAnother)
		joined, err := f.signIn.Accept(ctx, anna.Actor(here), token)
		if err != nil || joined != evil.ID {
			f.t.Errorf("accept: %d, %v", joined, err)
		}
		id, err := f.signIn.Identify(ctx, anna.Administrator.ID, evil.ID)
		if err != nil || id.Company.ID != evil.ID || len(id.Companies) != 2 {
			f.t.Errorf("identity %+v, %v", id, err)
		}
		wantCode(f.t, "switch to a foreign company", f.signIn.SwitchCompany(ctx, id, eve.Company.ID, here), domain.CodeCompanyNotFound)
	})
}

// Someone who took an address for themselves loses it to whom the operator's
// link goes, and never sees the company that the link is for.
func TestOperatorsLinkTakesBack(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		evil, _ := f.company("eve@x.test")
		thief := f.join(f.caller(evil), "anna@x.test") // Eve uses Anna's link
		f.session(thief.Administrator.ID, "thief")
		acme, token := f.company("anna@x.test")
		if id, err := f.signIn.Identify(ctx, thief.Administrator.ID, acme.ID); err != nil || id.Company.ID != evil.ID {
			f.t.Errorf("the thief serves %d, %v", id.Company.ID, err)
		}
		who, err := f.signIn.Enter(ctx, token, "", here)
		must(f.t, "enter", err)
		if _, _, found := f.find("thief"); found {
			f.t.Error("the thief is still signed in")
		}
		_, err = f.signIn.Password(ctx, "anna@x.test", goodPassword, here)
		wantErr(f.t, "the thief's password", err, domain.ErrWrongCredentials)
		if id, err := f.signIn.Identify(ctx, who.ID, acme.ID); err != nil || id.Company.ID != acme.ID {
			f.t.Errorf("Anna serves %d, %v", id.Company.ID, err)
		}
	})
}

func TestLinkFor(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, anna := f.companyWithPassword("anna@x.test")
		secret, _ := f.factor(anna)
		_, _, err := f.administrators.LinkFor(ctx, operator, domain.LinkRequest{Email: "nobody@x.test"})
		wantErr(f.t, "unknown", err, domain.ErrAdministratorNotFound)
		_, _, err = f.administrators.LinkFor(ctx, operator, domain.LinkRequest{Email: "no address"})
		wantCode(f.t, "no address", err, domain.CodeInvalid)
		_, _, err = f.administrators.LinkFor(ctx, operator, domain.LinkRequest{Email: "new@x.test", CompanyID: 999})
		wantCode(f.t, "no company", err, domain.CodeCompanyNotFound)
		_, _, err = f.administrators.Invite(ctx, f.caller(acme), invitation("guest@x.test"))
		must(f.t, "invite", err)
		_, _, err = f.administrators.LinkFor(ctx, operator, domain.LinkRequest{Email: "guest@x.test"})
		wantCode(f.t, "serves none", err, domain.CodeInvalid)

		_, added, err := f.administrators.LinkFor(ctx, operator, domain.LinkRequest{Email: "new@x.test", CompanyID: acme.ID})
		must(f.t, "add one", err)
		if id := f.enter(added); id.Company.ID != acme.ID {
			f.t.Errorf("entered %d", id.Company.ID)
		}
		_, first, err := f.administrators.LinkFor(ctx, operator, domain.LinkRequest{Email: "anna@x.test"})
		must(f.t, "link", err)
		_, token, err := f.administrators.LinkFor(ctx, operator, domain.LinkRequest{Email: "anna@x.test"})
		must(f.t, "another", err)
		_, err = f.signIn.Enter(ctx, first, "", here)
		wantErr(f.t, "the link that was replaced", err, domain.ErrLinkNotFound)
		_, err = f.signIn.Enter(ctx, token, "", here)
		wantErr(f.t, "without the second factor", err, domain.ErrWrongCode)
		_, err = f.signIn.Enter(ctx, token, domain.TOTPCode(secret, domain.TOTPStep(time.Now())+1), here)
		must(f.t, "with it", err)

		_, token, err = f.administrators.LinkFor(ctx, operator, domain.LinkRequest{Email: "anna@x.test", DropSecondFactor: true})
		must(f.t, "link for someone who lost it", err)
		id := f.enter(token)
		if who, _, err := f.store.Administrator(ctx, id.Administrator.ID); err != nil || who.HasSecondFactor {
			f.t.Errorf("%+v, %v", who, err)
		}
		if !slices.Contains(f.actions(acme.ID), "administrator.link_made by operator") {
			f.t.Error("the log lacks the link")
		}
	})
}
