package cabinet

import (
	"cmp"
	"strconv"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

func (c *Cabinet) administratorPages(private register) {
	private("GET "+view.PathAdministrators, administrators)
	private("GET "+view.PathInvite, func(p *page) error { return p.renderOK(view.InvitePage(p.shell(), view.InviteForm{Role: defaultRole})) })
	private("POST "+view.PathInvite, invite)
	private("GET "+view.PathAdministrators+"/{id}/invited", invited)
	private("GET "+view.PathAdministrators+"/{id}/link", confirmInviteAgain)
	private("POST "+view.PathAdministrators+"/{id}/link", inviteAgain)
	private("GET "+view.PathAdministrators+"/{id}/role", roleForm)
	private("POST "+view.PathAdministrators+"/{id}/role", changeRole)
	private("GET "+view.PathAdministrators+"/{id}/remove", confirmRemove)
	private("POST "+view.PathAdministrators+"/{id}/remove", removeAdministrator)
}

func (p *page) administratorList() ([]view.Administrator, error) {
	members, invitations, err := p.Administrators.List(p.r.Context(), p.caller())
	if err != nil {
		return nil, err
	}
	var out []view.Administrator
	for _, m := range members {
		out = append(out, view.Administrator{
			ID: m.ID, Name: m.Name, Email: m.Email, Self: m.ID == p.identity.Administrator.ID, SecondFactor: m.HasSecondFactor,
			Role: string(m.Role), Invited: !m.HasPassword, AddedAt: m.AddedAt, AddedBy: m.AddedBy, LastSignIn: m.LastSignInAt,
		})
	}
	for _, i := range invitations {
		out = append(out, view.Administrator{
			ID: i.AdministratorID, Name: i.Name, Email: i.Email, Role: string(i.Role), Invited: true, AddedAt: i.CreatedAt,
		})
	}
	return out, nil
}

func administrators(p *page) error {
	list, err := p.administratorList()
	if err != nil {
		return err
	}
	return p.renderOK(view.AdministratorsPage(p.shell(), view.Administrators{List: list}))
}

func invite(p *page) error {
	form := view.InviteForm{Email: p.field("email"), Name: p.field("name"), Role: cmp.Or(p.field("role"), defaultRole)}
	in := service.NewInvitation{Email: form.Email, Name: form.Name, Role: domain.CabinetRole(form.Role)}
	return p.inviteEmail(in, func(errs view.Errors) error {
		form.Errors = errs
		return p.renderInvalid(view.InvitePage(p.shell(), form))
	})
}

func (p *page) inviteEmail(in service.NewInvitation, wrong func(view.Errors) error) error {
	who, token, err := p.Administrators.Invite(p.r.Context(), p.caller(), in)
	if errs, ok := formErrors(err); ok {
		return wrong(errs)
	}
	if err != nil {
		return err
	}
	made := view.Invited{Email: who.Email, URL: p.PublicURL() + view.PathSignInLink(token), ExpiresAt: p.Now().Add(domain.LinkLifetime)}
	return p.redirectWithValue(flashInvited(who.ID), made, view.PathAdministrator(who.ID, "invited"))
}

func flashInvited(id int64) string { return "invited " + strconv.FormatInt(id, 10) }

// invited shows a sign-in link once. Afterwards it leads to the list.
func invited(p *page) error {
	id, err := p.id()
	if err != nil {
		return err
	}
	var v view.Invited
	if !p.takeFlashValue(flashInvited(id), &v) {
		return p.redirect(view.PathAdministrators)
	}
	return p.renderOK(view.InvitedPage(p.shell(), v))
}

// administratorFromPath returns the administrator in the path, provided that they
// belong to the company or are invited to it.
func (p *page) administratorFromPath() (view.Administrator, error) {
	id, err := p.id()
	if err != nil {
		return view.Administrator{}, err
	}
	list, err := p.administratorList()
	if err != nil {
		return view.Administrator{}, err
	}
	for _, a := range list {
		if a.ID == id {
			return a, nil
		}
	}
	return view.Administrator{}, errPageNotFound
}

func confirmInviteAgain(p *page) error {
	a, err := p.administratorFromPath()
	if err != nil {
		return err
	}
	return p.showConfirm(view.Confirm{
		Section: view.SectionSettings, Crumbs: []view.Link{{Text: "Settings", Path: view.PathSettings}, {Text: "Administrators", Path: view.PathAdministrators}},
		Title: "Create a new link for " + a.Email + "?", Effects: []string{"The previous link will stop working."},
		Action: view.PathAdministrator(a.ID, "link"), Verb: "Create link", Cancel: view.PathAdministrators,
	})
}

func inviteAgain(p *page) error {
	a, err := p.administratorFromPath()
	if err != nil {
		return err
	}
	return p.inviteEmail(service.NewInvitation{Email: a.Email, Name: a.Name, Role: domain.CabinetRole(a.Role)}, func(errs view.Errors) error { return p.redirectProblem(firstError(errs), view.PathAdministrators) })
}

// defaultRole is the role that the invitation form proposes.
const defaultRole = string(domain.CabinetAdministrator)

func roleForm(p *page) error {
	a, err := p.administratorFromPath()
	if err != nil {
		return err
	}
	return p.renderOK(view.RolePage(p.shell(), view.RoleForm{Administrator: a}))
}

func changeRole(p *page) error {
	a, err := p.administratorFromPath()
	if err != nil {
		return err
	}
	a.Role = p.field("role")
	err = p.Administrators.SetRole(p.r.Context(), p.caller(), a.ID, domain.CabinetRole(a.Role))
	if errs, ok := formErrors(err); ok {
		return p.renderInvalid(view.RolePage(p.shell(), view.RoleForm{Administrator: a, Errors: errs}))
	}
	if err != nil {
		return err
	}
	return p.redirectDone("The role of "+a.Email+" has been changed.", view.PathAdministrators)
}

func confirmRemove(p *page) error {
	a, err := p.administratorFromPath()
	if err != nil {
		return err
	}
	return p.renderOK(view.ConfirmPage(p.shell(), view.AdministratorRemove(a)))
}

func removeAdministrator(p *page) error {
	a, err := p.administratorFromPath()
	if err != nil {
		return err
	}
	ctx, member := p.r.Context(), a.AddedBy != ""
	if member {
		err = p.Administrators.Remove(ctx, p.caller(), a.ID)
	} else {
		err = p.Administrators.Uninvite(ctx, p.caller(), a.ID)
	}
	if errs, ok := formErrors(err); ok {
		return p.redirectProblem(firstError(errs), view.PathAdministrators)
	}
	if err != nil {
		return err
	}
	return p.redirectDone(a.Email+" has been removed.", view.PathAdministrators)
}

// firstError returns one of the errors, preferring the one about the whole form.
func firstError(errs view.Errors) string {
	if text := errs[""]; text != "" {
		return text
	}
	for _, text := range errs {
		return text
	}
	return ""
}
