package app

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

// checkRetention stores how long rows are kept. A time that is less than half of the
// stored one would delete most of what is kept, so it has to be confirmed.
func (a *App) checkRetention(ctx context.Context, sc ServeConfig) error {
	for _, r := range []struct {
		setting, flag, what string
		asked               time.Duration
	}{
		{"retention", "retention", "events and deliveries were", sc.Retention.Events},
		{"audit_retention", "audit-retention", "the audit log was", sc.Retention.Audit},
		{"activity_retention", "activity-retention", "the ids of activities were", sc.Retention.Activities},
	} {
		text, err := a.store.InitSetting(ctx, r.setting, []byte(r.asked.String()))
		if err != nil {
			return fmt.Errorf("read the stored retention: %w", err)
		}
		stored, err := time.ParseDuration(string(text))
		if err == nil && muchShorter(r.asked, stored) && !sc.Confirm {
			return fmt.Errorf("--%s=%s is less than half of the %s that %s kept for until now; "+
				"older ones would be deleted. Start once with --confirm if that is intended", r.flag, r.asked, forEver(stored), r.what)
		}
		if err := a.setSetting(ctx, r.setting, r.asked.String()); err != nil {
			return err
		}
	}
	return nil
}

// muchShorter reports whether a retention is less than half of the one before. Zero
// means for ever.
func muchShorter(asked, before time.Duration) bool {
	return asked != 0 && (before == 0 || asked < before/2)
}

func forEver(d time.Duration) string {
	if d == 0 {
		return "time without end"
	}
	return d.String()
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
