package service_test

import (
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

func TestMembers(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		_, anna := f.companyWithPassword("anna@x.test")
		c := anna.Caller(here)
		bob := f.join(c, "bob@x.test")
		_, _, err := f.administrators.Invite(ctx, c, invitation("bob@x.test"))
		wantCode(f.t, "invite a member", err, domain.CodeInvalid)
		_, _, err = f.administrators.Invite(ctx, c, invitation("nonsense"))
		wantCode(f.t, "invite nobody", err, domain.CodeInvalid)
		_, old, err := f.administrators.Invite(ctx, c, invitation("carl@x.test"))
		must(f.t, "invite", err)
		carl, token, err := f.administrators.Invite(ctx, c, invitation("Carl@x.test"))
		must(f.t, "invite again", err)
		_, err = f.signIn.Link(ctx, old)
		wantErr(f.t, "the replaced link", err, domain.ErrLinkNotFound)

		members, invited, err := f.administrators.List(ctx, c)
		must(f.t, "list", err)
		if len(members) != 2 || members[0].Email != "anna@x.test" || members[1].ID != bob.Administrator.ID || members[1].AddedBy != "anna@x.test" {
			f.t.Errorf("members %+v", members)
		}
		if len(invited) != 1 || invited[0].Email != "carl@x.test" || invited[0].AdministratorID != carl.ID {
			f.t.Errorf("invited %+v", invited)
		}
		other, _ := f.company("dora@x.test")
		wantErr(f.t, "uninvite from elsewhere", f.administrators.Uninvite(ctx, f.caller(other), carl.ID), domain.ErrInvitationNotFound)
		must(f.t, "uninvite", f.administrators.Uninvite(ctx, c, carl.ID))
		_, err = f.signIn.Enter(ctx, token, "", here)
		wantErr(f.t, "the withdrawn link", err, domain.ErrLinkNotFound)

		must(f.t, "set a profile", f.signIn.SetProfile(ctx, bob.Actor(here), domain.Profile{Name: "Bob B.", Theme: "dark"}))
		wantCode(f.t, "a bad profile", f.signIn.SetProfile(ctx, bob.Actor(here), domain.Profile{Theme: "pink"}), domain.CodeInvalid)
		if who, _, err := f.store.Administrator(ctx, bob.Administrator.ID); err != nil || who.Name != "Bob B." || who.Theme != "dark" {
			f.t.Errorf("%+v, %v", who, err)
		}
	})
}

func TestRemoveAdministrator(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, anna := f.companyWithPassword("anna@x.test")
		c := anna.Caller(here)
		wantErr(f.t, "the last one", f.administrators.Remove(ctx, c, anna.Administrator.ID), domain.ErrLastOwner)
		bob := f.join(c, "bob@x.test")
		other, dora := f.companyWithPassword("dora@x.test")
		wantErr(f.t, "someone elsewhere", f.administrators.Remove(ctx, c, dora.Administrator.ID), domain.ErrAdministratorNotFound)
		f.session(bob.Administrator.ID, "bob")
		must(f.t, "remove", f.administrators.Remove(ctx, c, bob.Administrator.ID))
		if _, _, found := f.find("bob"); found {
			f.t.Error("a removed administrator is still signed in")
		}
		_, err := f.signIn.Identify(ctx, bob.Administrator.ID, acme.ID)
		wantErr(f.t, "identify", err, domain.ErrWrongCredentials)
		_, err = f.signIn.Password(ctx, "bob@x.test", goodPassword, here)
		wantErr(f.t, "sign in", err, domain.ErrWrongCredentials)
		wantErr(f.t, "remove again", f.administrators.Remove(ctx, c, bob.Administrator.ID), domain.ErrAdministratorNotFound)
		_, err = f.signIn.Identify(ctx, 999, 0)
		wantErr(f.t, "nobody", err, domain.ErrWrongCredentials)

		back := f.join(c, "bob@x.test")
		if back.Administrator.ID == bob.Administrator.ID {
			f.t.Error("an identity that served no company was kept")
		}
		bob = back
		// An administrator of another company keeps everything else.
		_, token, err := f.administrators.Invite(ctx, dora.Caller(here), invitation("bob@x.test"))
		must(f.t, "invite", err)
		_, err = f.signIn.Accept(ctx, back.Actor(here), token)
		must(f.t, "accept", err)
		f.session(bob.Administrator.ID, "bob")
		must(f.t, "remove", f.administrators.Remove(ctx, c, bob.Administrator.ID))
		if id, err := f.signIn.Identify(ctx, bob.Administrator.ID, acme.ID); err != nil || id.Company.ID != other.ID {
			f.t.Errorf("serves %d, %v", id.Company.ID, err)
		}
		if _, _, found := f.find("bob"); !found {
			f.t.Error("signed out of the other company too")
		}
	})
}

func TestRemoveRace(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		acme, anna := f.companyWithPassword("anna@x.test")
		all := []service.Identity{anna}
		for range 3 {
			all = append(all, f.join(f.caller(acme), unique("more")))
		}
		// Each removes the next one; all four at once would leave nobody.
		errs := together(len(all), func(i int) error {
			return f.administrators.Remove(f.t.Context(), all[i].Caller(here), all[(i+1)%len(all)].Administrator.ID)
		})
		members, _, err := f.administrators.List(f.t.Context(), f.caller(acme))
		if err != nil || len(members) != 1 || succeeded(errs) != 3 {
			f.t.Errorf("%d administrators left, %v, %v", len(members), errs, err)
		}
	})
}
