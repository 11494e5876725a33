package cabinet

import (
	"strconv"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// usualGrace is how long the replaced secret of a token works unless somebody
// chooses otherwise, in hours.
const usualGrace = "24"

func regenerateForm(p *page) error {
	t, err := p.tokenFromPath()
	if err != nil {
		return err
	}
	form := view.TokenForm{Expiry: "365", MinDate: p.tomorrow()}
	if t.ExpiresAt == nil {
		form.Expiry = expiryNever
	}
	return p.renderOK(view.TokenRegeneratePage(p.shell(), view.TokenRegenerate{Token: p.tokenView(t), Grace: usualGrace, Form: form}))
}

func regenerateToken(p *page) error {
	t, err := p.tokenFromPath()
	if err != nil {
		return err
	}
	form := view.TokenForm{Expiry: p.field("expiry"), Date: p.field(expiryDate), MinDate: p.tomorrow(), Errors: view.Errors{}}
	grace := p.field("grace")
	hours, err := strconv.ParseUint(grace, 10, 16)
	if err != nil {
		form.Errors["grace"] = "Choose when the old secret stops working."
	}
	in := domain.TokenRegeneration{Grace: time.Duration(hours) * time.Hour}
	if in.ExpiresAt, err = p.expiry(form.Expiry, form.Date); err != nil {
		form.Errors[expiryDate] = sentence(err.Error())
	}
	if len(form.Errors) == 0 {
		_, secret, err := p.Tokens.Regenerate(p.r.Context(), p.caller(), t.ID, in)
		if err == nil {
			return p.redirectWithValue(flashToken(t.ID), newSecret{Secret: secret, Again: true}, view.PathToken(t.ID, "created"))
		}
		var ok bool
		if form.Errors, ok = formErrors(err); !ok {
			return err
		}
	}
	return p.renderInvalid(view.TokenRegeneratePage(p.shell(), view.TokenRegenerate{Token: p.tokenView(t), Grace: grace, Form: form}))
}

func confirmEndPrevious(p *page) error {
	t, err := p.tokenFromPath()
	if err != nil {
		return err
	}
	if !t.Regenerated(p.Now()) {
		return p.redirect(view.PathToken(t.ID))
	}
	return p.showConfirm(view.TokenEndPrevious(p.tokenView(t)))
}

func endPreviousToken(p *page) error {
	t, err := p.tokenFromPath()
	if err != nil {
		return err
	}
	if err := p.Tokens.EndPrevious(p.r.Context(), p.caller(), t.ID); err != nil {
		return err
	}
	return p.redirectDone("The old secret has stopped working.", view.PathToken(t.ID))
}

func renameForm(p *page) error {
	t, err := p.tokenFromPath()
	if err != nil {
		return err
	}
	return p.renderOK(view.TokenRenamePage(p.shell(), view.TokenRename{Token: p.tokenView(t), Name: t.Name}))
}

func renameToken(p *page) error {
	t, err := p.tokenFromPath()
	if err != nil {
		return err
	}
	_, err = p.Tokens.Rename(p.r.Context(), p.caller(), t.ID, p.field("name"))
	if errs, ok := formErrors(err); ok {
		return p.renderInvalid(view.TokenRenamePage(p.shell(), view.TokenRename{Token: p.tokenView(t), Name: p.field("name"), Errors: errs}))
	}
	if err != nil {
		return err
	}
	return p.redirectDone("Token renamed.", view.PathToken(t.ID))
}

func confirmRevoke(p *page) error {
	t, err := p.tokenFromPath()
	if err != nil {
		return err
	}
	return p.showConfirm(view.TokenRevoke(p.clock(), p.tokenView(t)))
}

func revokeToken(p *page) error {
	t, err := p.tokenFromPath()
	if err != nil {
		return err
	}
	if _, err := p.Tokens.Revoke(p.r.Context(), p.caller(), t.ID); err != nil {
		return err
	}
	return p.redirectDone("“"+t.Name+"” has been revoked.", view.PathTokens)
}
