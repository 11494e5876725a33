package cabinet

import (
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func (c *Cabinet) secondFactorPages(inside register) {
	inside("GET "+view.PathSecondFactor, secondFactorForm)
	inside("POST "+view.PathSecondFactor, secondFactorStep)
	inside("GET "+view.PathSecondOff, func(p *page) error {
		return p.show(view.PasswordPage(p.shell(), view.AskSecondOff))
	})
	inside("POST "+view.PathSecondOff, removeSecondFactor)
	inside("GET "+view.PathRecovery, func(p *page) error { return p.show(view.PasswordPage(p.shell(), view.AskRecovery)) })
	inside("POST "+view.PathRecovery, newRecoveryCodes)
}

// secondFactorForm shows the secret that waits to be confirmed, or asks for the
// password that it takes to make one.
func secondFactorForm(p *page) error {
	key, err := p.SignIn.PendingSecondFactor(p.r.Context(), p.actor())
	if domain.CodeOf(err) == domain.CodeInvalid {
		return p.show(view.PasswordPage(p.shell(), view.AskSecondFactor))
	}
	if err != nil {
		return err
	}
	return p.show(view.SecondFactorSetupPage(p.shell(), setupView(key)))
}

func setupView(key domain.TOTPKey) view.SecondFactorSetup {
	return view.SecondFactorSetup{Secret: key.Secret, URI: key.URI, QR: qrModules(key.URI)}
}

// secondFactorStep takes the password and makes a secret, or takes the first
// code and turns the second factor on.
func secondFactorStep(p *page) error {
	ctx := p.r.Context()
	if p.field("code") == "" && p.field("current") != "" {
		key, err := p.SignIn.BeginSecondFactor(ctx, p.actor(), p.field("current"))
		if errs, ok := invalid(err); ok {
			return p.again(view.PasswordPage(p.shell(), view.AskSecondFactor.With(underField(errs, "current"))))
		}
		if err != nil {
			return err
		}
		return p.show(view.SecondFactorSetupPage(p.shell(), setupView(key)))
	}
	codes, err := p.SignIn.ConfirmSecondFactor(ctx, p.actor(), p.field("code"))
	if errs, ok := invalid(err); ok {
		key, pendingErr := p.SignIn.PendingSecondFactor(ctx, p.actor())
		if pendingErr != nil {
			return pendingErr
		}
		v := setupView(key)
		v.Errors = underField(errs, "code")
		return p.again(view.SecondFactorSetupPage(p.shell(), v))
	}
	if err != nil {
		return err
	}
	return p.show(view.RecoveryCodesPage(p.shell(), view.RecoveryCodes{Codes: codes}))
}

// underField puts an error about the form as a whole beside the one field it has.
func underField(errs view.Errors, field string) view.Errors {
	if text, ok := errs[""]; ok {
		return view.Errors{field: text}
	}
	return errs
}

func removeSecondFactor(p *page) error {
	err := p.SignIn.RemoveSecondFactor(p.r.Context(), p.actor(), p.field("current"))
	if errs, ok := invalid(err); ok {
		return p.again(view.PasswordPage(p.shell(), view.AskSecondOff.With(underField(errs, "current"))))
	}
	if err != nil {
		return err
	}
	return p.done("The second factor is off.", view.PathMySignIn)
}

func newRecoveryCodes(p *page) error {
	codes, err := p.SignIn.NewRecoveryCodes(p.r.Context(), p.actor(), p.field("current"))
	if errs, ok := invalid(err); ok {
		return p.again(view.PasswordPage(p.shell(), view.AskRecovery.With(underField(errs, "current"))))
	}
	if err != nil {
		return err
	}
	return p.show(view.RecoveryCodesPage(p.shell(), view.RecoveryCodes{Codes: codes}))
}
