package service_test

import (
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

func TestMembers(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		_, anna := o.settled("anna@x.test")
		c := anna.Caller(here)
		bob := o.join(c, "bob@x.test")
		_, _, err := o.administrators.Invite(ctx, c, "bob@x.test", "")
		wantCode(o.t, "invite a member", err, domain.CodeInvalid)
		_, _, err = o.administrators.Invite(ctx, c, "nonsense", "")
		wantCode(o.t, "invite nobody", err, domain.CodeInvalid)
		_, old, err := o.administrators.Invite(ctx, c, "carl@x.test", "")
		must(o.t, "invite", err)
		carl, token, err := o.administrators.Invite(ctx, c, "Carl@x.test", "")
		must(o.t, "invite again", err)
		_, err = o.signIn.Link(ctx, old)
		wantErr(o.t, "the replaced link", err, domain.ErrLink)

		members, invited, err := o.administrators.List(ctx, c)
		must(o.t, "list", err)
		if len(members) != 2 || members[0].Email != "anna@x.test" || members[1].ID != bob.Administrator.ID || members[1].AddedBy != "anna@x.test" {
			o.t.Errorf("members %+v", members)
		}
		if len(invited) != 1 || invited[0].Email != "carl@x.test" || invited[0].AdministratorID != carl.ID {
			o.t.Errorf("invited %+v", invited)
		}
		other, _ := o.company("dora@x.test")
		wantErr(o.t, "uninvite from elsewhere", o.administrators.Uninvite(ctx, o.caller(other), carl.ID), domain.ErrInvitationNotFound)
		must(o.t, "uninvite", o.administrators.Uninvite(ctx, c, carl.ID))
		_, err = o.signIn.Enter(ctx, token, "", here)
		wantErr(o.t, "the withdrawn link", err, domain.ErrLink)

		must(o.t, "set a profile", o.signIn.SetProfile(ctx, bob.Actor(here), domain.Profile{Name: "Bob B.", Theme: "dark"}))
		wantCode(o.t, "a bad profile", o.signIn.SetProfile(ctx, bob.Actor(here), domain.Profile{Theme: "pink"}), domain.CodeInvalid)
		if who, _, err := o.store.Administrator(ctx, bob.Administrator.ID); err != nil || who.Label() != "Bob B." || who.Theme != "dark" {
			o.t.Errorf("%+v, %v", who, err)
		}
	})
}

func TestRemoveAdministrator(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		acme, anna := o.settled("anna@x.test")
		c := anna.Caller(here)
		wantErr(o.t, "the last one", o.administrators.Remove(ctx, c, anna.Administrator.ID), domain.ErrLastAdministrator)
		bob := o.join(c, "bob@x.test")
		other, dora := o.settled("dora@x.test")
		wantErr(o.t, "someone elsewhere", o.administrators.Remove(ctx, c, dora.Administrator.ID), domain.ErrAdministratorNotFound)
		o.session(bob.Administrator.ID, "bob")
		must(o.t, "remove", o.administrators.Remove(ctx, c, bob.Administrator.ID))
		if _, _, found := o.find("bob"); found {
			o.t.Error("a removed administrator is still signed in")
		}
		_, err := o.signIn.Identify(ctx, bob.Administrator.ID, acme.ID)
		wantErr(o.t, "identify", err, domain.ErrSignIn)
		_, err = o.signIn.Password(ctx, "bob@x.test", goodPassword, here)
		wantErr(o.t, "sign in", err, domain.ErrSignIn)
		wantErr(o.t, "remove again", o.administrators.Remove(ctx, c, bob.Administrator.ID), domain.ErrAdministratorNotFound)
		_, err = o.signIn.Identify(ctx, 999, 0)
		wantErr(o.t, "nobody", err, domain.ErrSignIn)

		back := o.join(c, "bob@x.test")
		if back.Administrator.ID != bob.Administrator.ID {
			o.t.Error("someone who comes back is another")
		}
		// Who serves another company keeps the rest.
		_, token, err := o.administrators.Invite(ctx, dora.Caller(here), "bob@x.test", "")
		must(o.t, "invite", err)
		_, err = o.signIn.Accept(ctx, back.Actor(here), token)
		must(o.t, "accept", err)
		o.session(bob.Administrator.ID, "bob")
		must(o.t, "remove", o.administrators.Remove(ctx, c, bob.Administrator.ID))
		if id, err := o.signIn.Identify(ctx, bob.Administrator.ID, acme.ID); err != nil || id.Company.ID != other.ID {
			o.t.Errorf("serves %d, %v", id.Company.ID, err)
		}
		if _, _, found := o.find("bob"); !found {
			o.t.Error("signed out of the other company too")
		}
	})
}

func TestRemoveRace(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		acme, anna := o.settled("anna@x.test")
		all := []service.Identity{anna}
		for range 3 {
			all = append(all, o.join(o.caller(acme), unique("more")))
		}
		// Each removes the next one; all four at once would leave nobody.
		errs := together(len(all), func(i int) error {
			return o.administrators.Remove(o.t.Context(), all[i].Caller(here), all[(i+1)%len(all)].Administrator.ID)
		})
		members, _, err := o.administrators.List(o.t.Context(), o.caller(acme))
		if err != nil || len(members) != 1 || succeeded(errs) != 3 {
			o.t.Errorf("%d administrators left, %v, %v", len(members), errs, err)
		}
	})
}
