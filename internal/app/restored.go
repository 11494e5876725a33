package app

import (
	"context"
	"fmt"
)

// restoredSetting is set in a database that was restored from a backup, until an
// operator says that it is the live one.
const restoredSetting = "restored"

// checkRestored turns webhooks off on a restored database: a copy must not call
// the receivers of the original.
func (a *App) checkRestored(ctx context.Context, wc *WebhookConfig) error {
	mark, err := a.store.Setting(ctx, restoredSetting)
	if err != nil {
		return fmt.Errorf("read the mark of a restored database: %w", err)
	}
	if len(mark) > 0 && string(mark) != restoredReleased {
		wc.Off = true
	}
	if wc.Off {
		a.log.Warn("this server sends no webhooks", "restored", string(mark),
			"hint", "a restored database sends again after coursebridge webhook resume")
	}
	return nil
}

// restoredReleased is the value of the setting once webhooks may be sent again.
const restoredReleased = "released"

// WebhooksResumed says that a restored database may send webhooks again.
type WebhooksResumed struct {
	Resumed bool `json:"resumed"`
}

func (WebhooksResumed) String() string {
	return "Webhooks are sent again once the servers on this database are restarted."
}

// ResumeWebhooks lets a restored database send webhooks again.
func (a *App) ResumeWebhooks(ctx context.Context) (WebhooksResumed, error) {
	return WebhooksResumed{Resumed: true}, a.setSetting(ctx, restoredSetting, restoredReleased)
}
