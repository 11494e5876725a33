package cabinet

import (
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func (c *Cabinet) secondFactorPages(private register) {
	private("GET "+view.PathSecondFactor, secondFactorForm)
	private("POST "+view.PathSecondFactor, secondFactorStep)
	private("GET "+view.PathSecondOff, func(p *page) error {
		return p.renderOK(view.PasswordPage(p.shell(), view.AskSecondOff))
	})
	private("POST "+view.PathSecondOff, removeSecondFactor)
	private("GET "+view.PathRecovery, func(p *page) error { return p.renderOK(view.PasswordPage(p.shell(), view.AskRecovery)) })
	private("POST "+view.PathRecovery, newRecoveryCodes)
	private("GET "+view.PathRecoveryCodes, recoveryCodes)
}

// secondFactorForm shows the secret that has to be confirmed, or asks for the
// password if there is none yet.
func secondFactorForm(p *page) error {
	key, err := p.SignIn.PendingSecondFactor(p.r.Context(), p.actor())
	if domain.CodeOf(err) == domain.CodeInvalid {
		return p.renderOK(view.PasswordPage(p.shell(), view.AskSecondFactor))
	}
	if err != nil {
		return err
	}
	return p.renderOK(view.SecondFactorSetupPage(p.shell(), setupView(key)))
}

func setupView(key domain.TOTPKey) view.SecondFactorSetup {
	return view.SecondFactorSetup{Secret: key.Secret, URI: key.URI, QR: qrModules(key.URI)}
}

// secondFactorStep creates a secret once the password is right, or turns the
// second factor on once the first code is right.
func secondFactorStep(p *page) error {
	ctx := p.r.Context()
	if p.field("code") == "" && p.field("current") != "" {
		_, err := p.SignIn.BeginSecondFactor(ctx, p.actor(), p.field("current"))
		if errs, ok := formErrors(err); ok {
			return p.renderInvalid(view.PasswordPage(p.shell(), view.AskSecondFactor.With(errorsForField(errs, "current"))))
		}
		if err != nil {
			return err
		}
		return p.redirect(view.PathSecondFactor)
	}
	codes, err := p.SignIn.ConfirmSecondFactor(ctx, p.actor(), p.field("code"), p.sessionToken())
	if errs, ok := formErrors(err); ok {
		key, pendingErr := p.SignIn.PendingSecondFactor(ctx, p.actor())
		if pendingErr != nil {
			return pendingErr
		}
		v := setupView(key)
		v.Errors = errorsForField(errs, "code")
		if domain.CodeOf(err) == domain.CodeUnauthorized {
			v.Errors = view.Errors{"code": "The code is wrong. Enter the current code, and check that the clock of your phone is right."}
		}
		return p.renderInvalid(view.SecondFactorSetupPage(p.shell(), v))
	}
	if err != nil {
		return err
	}
	return p.redirectOnce(onceRecovery, codes, view.PathRecoveryCodes)
}

// errorsForField moves an error about the whole form to its only field.
func errorsForField(errs view.Errors, field string) view.Errors {
	if text, ok := errs[""]; ok {
		return view.Errors{field: text}
	}
	return errs
}

func removeSecondFactor(p *page) error {
	err := p.SignIn.RemoveSecondFactor(p.r.Context(), p.actor(), p.field("current"))
	if errs, ok := formErrors(err); ok {
		return p.renderInvalid(view.PasswordPage(p.shell(), view.AskSecondOff.With(errorsForField(errs, "current"))))
	}
	if err != nil {
		return err
	}
	return p.redirectDone("Two-step verification is off.", view.PathMySignIn)
}

func newRecoveryCodes(p *page) error {
	codes, err := p.SignIn.NewRecoveryCodes(p.r.Context(), p.actor(), p.field("current"))
	if errs, ok := formErrors(err); ok {
		return p.renderInvalid(view.PasswordPage(p.shell(), view.AskRecovery.With(errorsForField(errs, "current"))))
	}
	if err != nil {
		return err
	}
	return p.redirectOnce(onceRecovery, codes, view.PathRecoveryCodes)
}

// onceRecovery names new recovery codes in the session.
const onceRecovery = "recovery codes"

// recoveryCodes shows new recovery codes once. Afterwards it leads to the page of
// the person's sign-in.
func recoveryCodes(p *page) error {
	var codes []string
	if !p.takeOnce(onceRecovery, &codes) {
		return p.redirect(view.PathMySignIn)
	}
	return p.renderOK(view.RecoveryCodesPage(p.shell(), view.RecoveryCodes{Codes: codes}))
}
