package service_test

import (
	"slices"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestFirstEntry(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		acme, token := o.company("Anna@x.test")
		link, err := o.signIn.Link(ctx, token)
		if err != nil || !link.SignsIn() || link.Administrator.Email != "Anna@x.test" || link.CompanyName != "Acme" || link.CompanyID != acme.ID {
			o.t.Errorf("link %+v, %v", link, err)
		}
		if left := link.ExpiresAt.Sub(o.store.Now()); left > domain.LinkLifetime || left < domain.LinkLifetime-time.Minute {
			o.t.Errorf("the link lasts %v", left)
		}
		_, err = o.signIn.Link(ctx, token) // looking does not use it
		must(o.t, "look again", err)
		who, err := o.signIn.Enter(ctx, token, "", here)
		if err != nil || who.HasPassword || who.LastSignInAt == nil {
			o.t.Errorf("enter: %+v, %v", who, err)
		}
		id, err := o.signIn.Identify(ctx, who.ID, 0)
		if err != nil || id.Company != acme || len(id.Companies) != 1 {
			o.t.Errorf("identity %+v, %v", id, err)
		}
		for name, bad := range map[string]string{"used": token, "made up": domain.MintLink(domain.LinkOperator), "no link": "x"} {
			_, err = o.signIn.Enter(ctx, bad, "", here)
			wantErr(o.t, name, err, domain.ErrLink)
			_, err = o.signIn.Link(ctx, bad)
			wantErr(o.t, name, err, domain.ErrLink)
			_, err = o.signIn.Accept(ctx, id.Actor(here), bad)
			wantErr(o.t, name, err, domain.ErrLink)
		}
		if n := o.count(`SELECT count(*) FROM sign_in_links WHERE hash = $1`, []byte(token)); n != 0 {
			o.t.Error("the link itself is stored")
		}
	})
}

func TestLinkExpires(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		_, token := o.company("anna@x.test")
		o.exec(`UPDATE sign_in_links SET expires_at = $1`, o.store.Now())
		_, err := o.signIn.Enter(o.t.Context(), token, "", here)
		wantErr(o.t, "enter", err, domain.ErrLink)
		_, renewed, err := o.administrators.LinkFor(o.t.Context(), operator, domain.LinkRequest{Email: "ANNA@x.test"})
		must(o.t, "make a new link", err)
		o.enter(renewed)
	})
}

func TestLinkRace(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		_, token := o.company("anna@x.test")
		errs := together(8, func(int) error {
			_, err := o.signIn.Enter(o.t.Context(), token, "", here)
			return err
		})
		if n := succeeded(errs); n != 1 {
			o.t.Errorf("%d of 8 entered by one link: %v", n, errs)
		}
	})
}

// Two companies invite someone whom nobody knows yet. Each holds its own link;
// whoever comes first owns the identity, and the other link opens nothing.
func TestInvitationsDoNotCross(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		acme, _ := o.company("anna@x.test")
		evil, _ := o.company("eve@x.test")
		_, mine, err := o.administrators.Invite(ctx, o.caller(acme), "bob@x.test", "")
		must(o.t, "invite", err)
		_, theirs, err := o.administrators.Invite(ctx, o.caller(evil), "bob@x.test", "")
		must(o.t, "invite", err)
		links := []string{mine, theirs}
		errs := together(2, func(i int) error {
			_, err := o.signIn.Enter(ctx, links[i], "", here)
			return err
		})
		if succeeded(errs) != 1 {
			o.t.Fatalf("both entered, or none: %v", errs)
		}
		late := slices.IndexFunc(errs, func(err error) bool { return err != nil })
		wantErr(o.t, "the late one", errs[late], domain.ErrLinkNeedsSignIn)
		who, _, err := o.store.AdministratorByEmail(ctx, "bob@x.test")
		must(o.t, "find", err)
		id, err := o.signIn.Identify(ctx, who.ID, 0)
		if err != nil || len(id.Companies) != 1 || id.Company.ID != []int64{acme.ID, evil.ID}[1-late] {
			o.t.Errorf("serves %+v, %v", id.Companies, err)
		}
	})
}

// A company's administrator, who sees the link, must not get at an identity that
// another company trusts: neither one in use nor one that waits for its owner.
func TestInvitationOpensNoOther(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		evil, _ := o.settled("eve@x.test")
		acme, anna := o.settled("anna@x.test")
		o.company("waits@x.test")
		for _, email := range []string{"anna@x.test", "waits@x.test"} {
			_, token, err := o.administrators.Invite(ctx, o.caller(evil), email, "")
			must(o.t, "invite", err)
			link, err := o.signIn.Link(ctx, token)
			if err != nil || link.SignsIn() {
				o.t.Errorf("%s: the link signs in, %v", email, err)
			}
			_, err = o.signIn.Enter(ctx, token, "", here)
			wantErr(o.t, email, err, domain.ErrLinkNeedsSignIn)
			// Nor by making it look like the operator's.
			_, err = o.signIn.Enter(ctx, "o"+token[1:], "", here)
			wantErr(o.t, email, err, domain.ErrLink)
		}
		_, token, err := o.administrators.Invite(ctx, o.caller(evil), "anna@x.test", "")
		must(o.t, "invite again", err)
		if id, err := o.signIn.Identify(ctx, anna.Administrator.ID, evil.ID); err != nil || id.Company.ID != acme.ID {
			o.t.Errorf("serves %d before accepting, %v", id.Company.ID, err)
		}
		_, eve := o.settled("eve2@x.test")
		_, err = o.signIn.Accept(ctx, eve.Actor(here), token)
		wantErr(o.t, "accept another's", err, domain.ErrLinkOfAnother)
		joined, err := o.signIn.Accept(ctx, anna.Actor(here), token)
		if err != nil || joined != evil.ID {
			o.t.Errorf("accept: %d, %v", joined, err)
		}
		id, err := o.signIn.Identify(ctx, anna.Administrator.ID, evil.ID)
		if err != nil || id.Company.ID != evil.ID || len(id.Companies) != 2 || id.Serves(acme.ID) != nil {
			o.t.Errorf("identity %+v, %v", id, err)
		}
		wantCode(o.t, "switch to a foreign company", id.Serves(eve.Company.ID), domain.CodeCompanyNotFound)
	})
}

// Someone who took an address for themselves loses it to whom the operator's
// link goes, and never sees the company that the link is for.
func TestOperatorsLinkTakesBack(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		evil, _ := o.company("eve@x.test")
		thief := o.join(o.caller(evil), "anna@x.test") // Eve uses Anna's link
		o.session(thief.Administrator.ID, "thief")
		acme, token := o.company("anna@x.test")
		if id, err := o.signIn.Identify(ctx, thief.Administrator.ID, acme.ID); err != nil || id.Company.ID != evil.ID {
			o.t.Errorf("the thief serves %d, %v", id.Company.ID, err)
		}
		who, err := o.signIn.Enter(ctx, token, "", here)
		must(o.t, "enter", err)
		if _, _, found := o.find("thief"); found {
			o.t.Error("the thief is still signed in")
		}
		_, err = o.signIn.Password(ctx, "anna@x.test", goodPassword, here)
		wantErr(o.t, "the thief's password", err, domain.ErrSignIn)
		if id, err := o.signIn.Identify(ctx, who.ID, acme.ID); err != nil || id.Company.ID != acme.ID {
			o.t.Errorf("Anna serves %d, %v", id.Company.ID, err)
		}
	})
}

func TestLinkFor(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		acme, anna := o.settled("anna@x.test")
		secret, _ := o.factor(anna)
		_, _, err := o.administrators.LinkFor(ctx, operator, domain.LinkRequest{Email: "nobody@x.test"})
		wantErr(o.t, "unknown", err, domain.ErrAdministratorNotFound)
		_, _, err = o.administrators.LinkFor(ctx, operator, domain.LinkRequest{Email: "no address"})
		wantCode(o.t, "no address", err, domain.CodeInvalid)
		_, _, err = o.administrators.LinkFor(ctx, operator, domain.LinkRequest{Email: "new@x.test", CompanyID: 999})
		wantCode(o.t, "no company", err, domain.CodeCompanyNotFound)
		_, _, err = o.administrators.Invite(ctx, o.caller(acme), "guest@x.test", "")
		must(o.t, "invite", err)
		_, _, err = o.administrators.LinkFor(ctx, operator, domain.LinkRequest{Email: "guest@x.test"})
		wantCode(o.t, "serves none", err, domain.CodeInvalid)

		_, added, err := o.administrators.LinkFor(ctx, operator, domain.LinkRequest{Email: "new@x.test", CompanyID: acme.ID})
		must(o.t, "add one", err)
		if id := o.enter(added); id.Company.ID != acme.ID {
			o.t.Errorf("entered %d", id.Company.ID)
		}
		_, first, err := o.administrators.LinkFor(ctx, operator, domain.LinkRequest{Email: "anna@x.test"})
		must(o.t, "link", err)
		_, token, err := o.administrators.LinkFor(ctx, operator, domain.LinkRequest{Email: "anna@x.test"})
		must(o.t, "another", err)
		_, err = o.signIn.Enter(ctx, first, "", here)
		wantErr(o.t, "the link that was replaced", err, domain.ErrLink)
		_, err = o.signIn.Enter(ctx, token, "", here)
		wantErr(o.t, "without the second factor", err, domain.ErrCode)
		_, err = o.signIn.Enter(ctx, token, domain.TOTPCode(secret, domain.TOTPStep(time.Now())+1), here)
		must(o.t, "with it", err)

		_, token, err = o.administrators.LinkFor(ctx, operator, domain.LinkRequest{Email: "anna@x.test", DropSecondFactor: true})
		must(o.t, "link for someone who lost it", err)
		id := o.enter(token)
		if who, _, err := o.store.Administrator(ctx, id.Administrator.ID); err != nil || who.HasSecondFactor {
			o.t.Errorf("%+v, %v", who, err)
		}
		if !slices.Contains(o.actions(acme.ID), "administrator.link_made by operator") {
			o.t.Error("the log lacks the link")
		}
	})
}
