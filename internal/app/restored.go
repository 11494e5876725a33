package app

import (
	"context"
	"fmt"
)

const (
	// restoredSetting is the key of a setting that marks a database restored from a
	// backup. Its value is the time of the restore, and later webhooksReleased.
	restoredSetting = "restored"

	// webhooksReleased is the setting's value once an operator has allowed webhooks
	// again.
	webhooksReleased = "released"
)

// checkRestored turns webhooks off if the database was restored and not released: a
// copy must not call the receivers of the original. It also logs a warning if
// webhooks are off for any reason.
func (a *App) checkRestored(ctx context.Context, wc *WebhookConfig) error {
	restored, err := a.store.Setting(ctx, restoredSetting)
	if err != nil {
		return fmt.Errorf("read whether the database was restored from a backup: %w", err)
	}
	if len(restored) > 0 && string(restored) != webhooksReleased {
		wc.Off = true
	}
	if wc.Off {
		a.log.Warn("this server sends no webhooks", "restored", string(restored),
			"hint", "if the database was restored from a backup, run coursebridge webhook resume and restart the servers")
	}
	return nil
}

// WebhooksResumed is the result of ResumeWebhooks.
type WebhooksResumed struct {
	Resumed bool `json:"resumed"`
}

func (WebhooksResumed) String() string {
	return "Webhooks are sent again once the servers on this database are restarted."
}

// ResumeWebhooks allows servers on a restored database to send webhooks. They do so
// after their next start.
func (a *App) ResumeWebhooks(ctx context.Context) (WebhooksResumed, error) {
	return WebhooksResumed{Resumed: true}, a.setSetting(ctx, restoredSetting, webhooksReleased)
}
