package app

import (
	"context"
	"fmt"
	"strconv"

	"github.com/coursebridge/coursebridge/internal/delivery"
	"github.com/coursebridge/coursebridge/internal/secret"
	"github.com/coursebridge/coursebridge/internal/service"
)

// KeyReset lists what depended on a lost key. If Done, webhooks have new secrets, which
// their receivers must be given, and second factors are off.
type KeyReset struct {
	Done          bool          `json:"done"`
	Webhooks      []LostWebhook `json:"webhooks"`
	SecondFactors []string      `json:"secondFactors"`
}

// LostWebhook is a webhook whose secret cannot be read.
type LostWebhook struct {
	CompanyID int64  `json:"companyId"`
	ID        int64  `json:"id"`
	URL       string `json:"url"`
	Secret    string `json:"secret,omitempty"` // the new one
}

// Table implements Table.
func (k KeyReset) Table() (header []string, rows [][]string) {
	todo := func(done, pending string) string {
		if k.Done {
			return done
		}
		return pending
	}
	for _, w := range k.Webhooks {
		rows = append(rows, []string{
			"webhook", strconv.FormatInt(w.CompanyID, 10), strconv.FormatInt(w.ID, 10), w.URL, todo("give the receiver "+w.Secret, "gets a new secret"),
		})
	}
	for _, email := range k.SecondFactors {
		rows = append(rows, []string{"second factor", "", "", email, todo("set it up again", "is removed")})
	}
	return []string{"WHAT", "COMPANY", "ID", "WHERE", "DO"}, rows
}

// Footnote implements Footnote.
func (k KeyReset) Footnote() string {
	switch {
	case k.Done:
		return "The key was reset. Start every server again with the new key."
	case len(k.Webhooks) == 0 && len(k.SecondFactors) == 0:
		return "Every secret can be read. Nothing has to be reset."
	}
	return "Nothing was changed. To replace these secrets, stop every server and add --confirm."
}

// ResetKey lists the secrets that the key cannot read and, if confirmed, replaces them.
// It can be repeated after an interruption. The app must have been opened with LostKey.
func (a *App) ResetKey(ctx context.Context, confirmed bool) (KeyReset, error) {
	lostKey, err := secret.Lost(ctx, a.store, a.boxOptions())
	if err != nil {
		return KeyReset{}, err
	}
	if confirmed && lostKey {
		if err := secret.Reset(ctx, a.store, a.boxOptions()); err != nil {
			return KeyReset{}, err
		}
	}
	var box service.SecretBox
	if confirmed || !lostKey {
		if box, err = secret.Open(ctx, a.store, a.boxOptions()); err != nil {
			return KeyReset{}, err
		}
	}
	lost, err := service.FindLostSecrets(ctx, a.store, box)
	if err != nil {
		return KeyReset{}, err
	}
	out := KeyReset{Done: confirmed, Webhooks: []LostWebhook{}, SecondFactors: []string{}}
	for _, e := range lost.Webhooks {
		out.Webhooks = append(out.Webhooks, LostWebhook{CompanyID: e.CompanyID, ID: e.ID, URL: e.URL})
	}
	for _, f := range lost.Factors {
		out.SecondFactors = append(out.SecondFactors, f.Email)
	}
	if !confirmed {
		return out, nil
	}
	secrets, err := service.ReplaceLostSecrets(ctx, a.store, box, service.LostReplacement{Lost: lost, By: operator(), NewSecret: delivery.NewSecret})
	if err != nil {
		return out, fmt.Errorf("replace the lost secrets; run the command again: %w", err)
	}
	for i, s := range secrets {
		out.Webhooks[i].Secret = s
	}
	return out, nil
}
