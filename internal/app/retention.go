package app

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

const retentionSetting = "retention"

// checkRetention stores the retention. One that is less than half of the stored
// one would delete most of what is kept, so it has to be confirmed.
func (a *App) checkRetention(ctx context.Context, sc ServeConfig) error {
	asked := sc.Webhooks.Retention
	text, err := a.store.SettingOnce(ctx, retentionSetting, []byte(asked.String()))
	if err != nil {
		return fmt.Errorf("read the stored retention: %w", err)
	}
	stored, err := time.ParseDuration(string(text))
	if err == nil && asked < stored/2 && !sc.Confirm {
		return fmt.Errorf("--retention=%s is less than half of the %s that events and deliveries were kept for until now; "+
			"older ones would be deleted. Start once with --confirm if that is intended", asked, stored)
	}
	return a.setSetting(ctx, retentionSetting, asked.String())
}

// checkCertificates returns an error if this machine has no CA certificates.
func checkCertificates() error {
	roots, err := x509.SystemCertPool()
	if err != nil {
		return err
	}
	if roots.Equal(x509.NewCertPool()) {
		return errors.New("the system's pool of certificates is empty")
	}
	return nil
}
