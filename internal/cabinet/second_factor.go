package cabinet

import (
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func (c *Cabinet) secondFactorPages(private register) {
	private("GET "+view.PathSecondFactor, showSecondFactor)
	private("POST "+view.PathSecondFactor, submitSecondFactor)
	private("GET "+view.PathRemoveSecondFactor, func(p *page) error {
		return p.renderOK(view.PasswordPage(p.shell(), view.AskSecondOff))
	})
	private("POST "+view.PathRemoveSecondFactor, removeSecondFactor)
	private("GET "+view.PathRecovery, func(p *page) error { return p.renderOK(view.PasswordPage(p.shell(), view.AskRecovery)) })
	private("POST "+view.PathRecovery, createRecoveryCodes)
	private("GET "+view.PathRecoveryCodes, showRecoveryCodes)
}

// showSecondFactor shows the secret that a first code has to confirm. If no secret
// was created yet, it asks for the password first.
func showSecondFactor(p *page) error {
	key, err := p.SignIn.PendingSecondFactor(p.r.Context(), p.actor())
	if domain.CodeOf(err) == domain.CodeInvalid { // no secret is waiting for its first code
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

// submitSecondFactor handles both forms of the page. The form with the current
// password creates a secret; the form with the first code turns the second factor on
// and leads to the recovery codes.
func submitSecondFactor(p *page) error {
	ctx := p.r.Context()
	if p.field("code") == "" && p.rawField("current") != "" {
		_, err := p.SignIn.BeginSecondFactor(ctx, p.actor(), p.rawField("current"))
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
	return p.redirectWithValue(flashRecovery, codes, view.PathRecoveryCodes)
}

// errorsForField returns errs for a form with a single field: an error about the
// form as a whole is shown at that field.
func errorsForField(errs view.Errors, field string) view.Errors {
	if text, ok := errs[""]; ok {
		return view.Errors{field: text}
	}
	return errs
}

func removeSecondFactor(p *page) error {
	err := p.SignIn.RemoveSecondFactor(p.r.Context(), p.actor(), p.rawField("current"))
	if errs, ok := formErrors(err); ok {
		return p.renderInvalid(view.PasswordPage(p.shell(), view.AskSecondOff.With(errorsForField(errs, "current"))))
	}
	if err != nil {
		return err
	}
	return p.redirectDone("Two-step verification is off.", view.PathMySignIn)
}

func createRecoveryCodes(p *page) error {
	codes, err := p.SignIn.NewRecoveryCodes(p.r.Context(), p.actor(), p.rawField("current"))
	if errs, ok := formErrors(err); ok {
		return p.renderInvalid(view.PasswordPage(p.shell(), view.AskRecovery.With(errorsForField(errs, "current"))))
	}
	if err != nil {
		return err
	}
	return p.redirectWithValue(flashRecovery, codes, view.PathRecoveryCodes)
}

// flashRecovery is the name under which redirectWithValue passes new recovery codes to the
// page that shows them.
const flashRecovery = "recovery codes"

// showRecoveryCodes shows new recovery codes once. When the page is opened again, it
// redirects to the sign-in settings.
func showRecoveryCodes(p *page) error {
	var codes []string
	if !p.takeFlashValue(flashRecovery, &codes) {
		return p.redirect(view.PathMySignIn)
	}
	return p.renderOK(view.RecoveryCodesPage(p.shell(), view.RecoveryCodes{Codes: codes}))
}
