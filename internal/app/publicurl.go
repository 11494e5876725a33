package app

import (
	"context"
	"strings"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	defaultPublicURL = "http://127.0.0.1:8080"
	// publicURLSetting is the address that an operator has set.
	publicURLSetting = "public_url"
	// listenURLSetting is where the server listens that started last. Links begin
	// with it as long as no public address is set.
	listenURLSetting = "listen_url"
)

// publicURL returns the address that links begin with: the one given to this
// process, the one stored in the database, or where the last server listened.
func (a *App) publicURL(ctx context.Context) (string, error) {
	if a.config.PublicURL != "" {
		return strings.TrimRight(a.config.PublicURL, "/"), nil
	}
	for _, key := range []string{publicURLSetting, listenURLSetting} {
		stored, err := a.store.Setting(ctx, key)
		if err != nil {
			return "", err
		}
		if len(stored) > 0 {
			return string(stored), nil
		}
	}
	return defaultPublicURL, nil
}

// storePublicURL stores the public address of a server unless the installation
// has one. It returns the stored address, which may differ from the server's.
func (a *App) storePublicURL(ctx context.Context, listening string) (stored string, err error) {
	if a.config.PublicURL == "" {
		if err := a.setSetting(ctx, listenURLSetting, a.address(listening)); err != nil {
			return "", err
		}
		return a.publicURL(ctx)
	}
	own, err := a.publicURL(ctx)
	if err != nil {
		return "", err
	}
	value, err := a.store.InitSetting(ctx, publicURLSetting, []byte(own))
	return string(value), err
}

// setSetting stores a value whatever was stored before.
func (a *App) setSetting(ctx context.Context, key, value string) error {
	for {
		now, err := a.store.InitSetting(ctx, key, []byte(value))
		if err != nil || string(now) == value {
			return err
		}
		if swapped, err := a.store.CompareAndSwapSetting(ctx, key, now, []byte(value)); err != nil || swapped {
			return err
		}
	}
}

// PublicURL is the address of an installation.
type PublicURL struct {
	URL string `json:"url"`
}

func (p PublicURL) String() string { return p.URL }

// PublicURL returns the address that links begin with.
func (a *App) PublicURL(ctx context.Context) (PublicURL, error) {
	text, err := a.publicURL(ctx)
	return PublicURL{URL: text}, err
}

// SetPublicURL changes the public address of the installation.
func (a *App) SetPublicURL(ctx context.Context, text string) (PublicURL, error) {
	if err := checkPublicURL(text); err != nil {
		return PublicURL{}, domain.Errorf(domain.CodeInvalid, "%s", err)
	}
	text = strings.TrimRight(text, "/")
	return PublicURL{URL: text}, a.setSetting(ctx, publicURLSetting, text)
}
