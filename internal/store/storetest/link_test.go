package storetest_test

import (
	"crypto/sha256"
	"slices"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func linkOf(kind domain.LinkKind, token string) domain.NewLink {
	return domain.NewLink{Hash: sha256.Sum256([]byte(token)), Kind: kind, Role: domain.CabinetOwner, Lifetime: time.Hour, Name: "Ann of " + token}
}

// memberRoles returns the roles of a company's administrators, in the order in which they
// were added, and its invitations.
func (f testCompany) memberRoles() (members, invited []string) {
	f.t.Helper()
	list, invitations, err := f.s.Members(f.t.Context(), f.c.Company.ID)
	wantNoError(f.t, "list the members", err)
	members, invited = []string{}, []string{}
	for _, m := range list {
		members = append(members, m.Email+" "+string(m.Role)+" by "+m.AddedBy)
	}
	for _, i := range invitations {
		invited = append(invited, i.Email+" "+string(i.Role)+" "+i.Name)
	}
	return members, invited
}

func TestInvitationIsUsedOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other, ctx := newTestCompany(t, s), newTestCompany(t, s), t.Context()
		owner := f.addAdministrator("owner@x.test", domain.CabinetOwner)
		invite := func(to testCompany, token string, role domain.CabinetRole) domain.Administrator {
			t.Helper()
			link := linkOf(domain.LinkInvitation, token)
			link.Role = role
			c := owner
			c.Company = to.c.Company
			who, err := s.Invite(ctx, c, "Ann@x.test", link)
			wantNoError(t, "invite", err)
			return who
		}
		enter := func(token string, kind domain.LinkKind) (domain.Administrator, error) {
			return s.EnterByLink(ctx, sha256.Sum256([]byte(token)), kind, domain.SignInProof{Actor: domain.Actor{Address: "198.51.100.1"}})
		}
		invite(f, "first", domain.CabinetOwner)
		ann := invite(f, "second", domain.CabinetViewer) // replaces the first
		invite(other, "elsewhere", domain.CabinetAdministrator)
		_, invited := f.memberRoles()
		equal(t, "invited", invited, []string{"Ann@x.test viewer Ann of second"})
		wantNoError(t, "add a session", s.AddSession(ctx, newSession(s, ann.ID, "before", 0)))
		_, err := enter("first", domain.LinkInvitation)
		wantCode(t, "a replaced link", err, domain.CodeNotFound)
		who, err := enter("second", domain.LinkInvitation)
		if err != nil || who.ID != ann.ID || who.LastSignInAt == nil || who.HasPassword {
			t.Fatalf("entered as %+v, %v", who, err)
		}
		_, err = enter("second", domain.LinkInvitation)
		wantCode(t, "a used link", err, domain.CodeNotFound)
		_, err = enter("elsewhere", domain.LinkInvitation)
		wantCode(t, "an invitation of somebody who is in use", err, domain.CodeUnauthorized)
		members, invited := f.memberRoles()
		equal(t, "members", members, []string{"owner@x.test owner by ", "Ann@x.test viewer by owner@x.test"})
		equal(t, "invited", invited, []string{})
		equal(t, "sessions", sessionKeys(t, s, ann.ID), []string{})
		who, companies, err := s.Memberships(ctx, ann.ID)
		if err != nil || who.Name != "Ann of second" || len(companies) != 1 || companies[0].ID != f.c.Company.ID {
			t.Errorf("%q serves %v, %v; want one company, and the name of the invitation", who.Name, companies, err)
		}

		accept := func(by int64) (int64, error) {
			return s.AcceptLink(ctx, domain.Actor{Kind: domain.ActorPerson, ID: by}, sha256.Sum256([]byte("elsewhere")))
		}
		_, err = accept(owner.Actor.ID)
		wantCode(t, "accept the link of another", err, domain.CodeWrongCompany)
		joined, err := accept(ann.ID)
		if err != nil || joined != other.c.Company.ID {
			t.Errorf("joined the company %d, %v; want %d", joined, err, other.c.Company.ID)
		}
		members, _ = other.memberRoles()
		equal(t, "members of the other company", members, []string{"Ann@x.test administrator by owner@x.test"})
		equal(t, "audit", f.audit(), []string{"administrator.invited", "administrator.invited", "administrator.joined", "sign_in.succeeded"})
	})
}

// The operator's link signs in without a password, and takes away whatever was set up before
// the operator vouched for the address.
func TestOperatorLink(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other, ctx := newTestCompany(t, s), newTestCompany(t, s), t.Context()
		ann := f.addAdministrator("ann@x.test", domain.CabinetOwner).Actor
		change(t, s, `UPDATE administrators SET password_hash = 'old', totp_secret = $1, totp_confirmed_at = $2, recovery_hashes = '["r"]'`, []byte("sealed"), s.Now())
		operator := domain.Actor{Kind: domain.ActorOperator, Label: "operator"}
		enter := func(token string, in domain.LinkRequest) domain.Administrator {
			t.Helper()
			in.Email = "ANN@x.test"
			_, err := s.MakeLink(ctx, operator, in, linkOf(domain.LinkOperator, token))
			wantNoError(t, "make a link", err)
			who, err := s.EnterByLink(ctx, sha256.Sum256([]byte(token)), domain.LinkOperator, domain.SignInProof{Actor: ann})
			wantNoError(t, "enter by "+token, err)
			return who
		}
		who := enter("first", domain.LinkRequest{})
		equal(t, "entered as", who.Name, "")
		equal(t, "credentials", credentials(t, s, ann.ID), domain.Credentials{RecoveryHashes: []string{}})
		who, _, err := s.Administrator(ctx, ann.ID)
		wantNoError(t, "read", err)
		equal(t, "the name, which is the link's", who.Name, "Ann of first")
		enter("second", domain.LinkRequest{CompanyID: other.c.Company.ID})
		if who, _, err = s.Administrator(ctx, ann.ID); err != nil || who.Name != "Ann of first" {
			t.Errorf("the name is %q, %v; the operator had vouched before", who.Name, err)
		}
		members, _ := other.memberRoles()
		equal(t, "members", members, []string{"ann@x.test owner by operator"})

		// A password ends the operator's links: the person joins their companies at once.
		third := newTestCompany(t, s)
		_, err = s.MakeLink(ctx, operator, domain.LinkRequest{Email: "ann@x.test", CompanyID: third.c.Company.ID}, linkOf(domain.LinkOperator, "third"))
		wantNoError(t, "make a link", err)
		_, err = s.Invite(ctx, newTestCompany(t, s).c, "ann@x.test", linkOf(domain.LinkInvitation, "invitation"))
		wantNoError(t, "invite", err)
		wantNoError(t, "set a password", s.SetPassword(ctx, domain.NewPassword{AdministratorID: ann.ID, New: "hash", Actor: ann}))
		_, err = s.SignInLink(ctx, sha256.Sum256([]byte("third")))
		wantCode(t, "the operator's link after that", err, domain.CodeNotFound)
		_, err = s.SignInLink(ctx, sha256.Sum256([]byte("invitation")))
		wantNoError(t, "the invitation after that", err)
		if members, _ = third.memberRoles(); len(members) != 1 || !slices.Equal(third.audit(), []string{"administrator.invited", "administrator.joined", "password.set"}) {
			t.Errorf("the company of the link has the members %v and the audit %v", members, third.audit())
		}
	})
}

func TestMembersAndTheirRoles(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other, ctx := newTestCompany(t, s), newTestCompany(t, s), t.Context()
		ann := f.addAdministrator("ann@x.test", domain.CabinetOwner)
		bob := f.addAdministrator("bob@x.test", domain.CabinetViewer)
		eve := other.addAdministrator("eve@x.test", domain.CabinetOwner)
		set := func(id int64, role domain.CabinetRole) error { return s.SetCabinetRole(ctx, ann, id, role) }
		wantCode(t, "demote the last owner", set(ann.Actor.ID, domain.CabinetViewer), domain.CodeInvalid)
		wantCode(t, "promote the administrator of another company", set(eve.Actor.ID, domain.CabinetOwner), domain.CodeNotFound)
		wantNoError(t, "promote", set(bob.Actor.ID, domain.CabinetOwner))
		wantNoError(t, "promote to the same", set(bob.Actor.ID, domain.CabinetOwner))
		wantNoError(t, "demote one of two owners", set(ann.Actor.ID, domain.CabinetAdministrator))
		members, _ := f.memberRoles()
		equal(t, "members", members, []string{"ann@x.test administrator by ", "bob@x.test owner by "})
		members, _ = other.memberRoles()
		equal(t, "members of the other company", members, []string{"eve@x.test owner by "})
		equal(t, "audit", texts(t, s, `SELECT detail FROM audit_entries WHERE company_id = $1 AND action = 'administrator.role_changed' ORDER BY id`, f.c.Company.ID),
			[]string{"From viewer to owner.", "From owner to administrator."})

		wantNoError(t, "set the profile", s.SetProfile(ctx, ann.Actor.ID, domain.Profile{Name: "Ann", Theme: "dark"}))
		wantCode(t, "set the profile of nobody", s.SetProfile(ctx, eve.Actor.ID+100, domain.Profile{Theme: "dark"}), domain.CodeNotFound)
		for email, want := range map[string]string{"ann@x.test": "Ann dark", "bob@x.test": "Trillian "} {
			who, _, err := s.AdministratorByEmail(ctx, email)
			wantNoError(t, "read", err)
			equal(t, "the profile of "+email, who.Name+" "+who.Theme, want)
		}
	})
}
