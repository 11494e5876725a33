package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/coursebridge/coursebridge/internal/secret"
	"github.com/coursebridge/coursebridge/internal/server"
)

// CheckSettings returns everything that keeps a server with these settings from
// starting, as joined errors that name the flags. It opens nothing but the files that
// the settings name.
func CheckSettings(c Config, sc ServeConfig) error {
	return errors.Join(
		checkAddress("database", c.Database), c.checkKey(), c.validate(), sc.validate(),
		server.CheckCertificate(sc.TLSCert, sc.TLSKey),
	)
}

// checkAddress refuses an address of a database that cannot be meant.
func checkAddress(flag, address string) error {
	if path, ok := sqlitePath(address); ok {
		if path == "" {
			return fmt.Errorf("--%s names no file: an SQLite address looks like sqlite:///path/file.db", flag)
		}
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return fmt.Errorf("--%s must begin with sqlite:// or postgres://; characters such as # and / in a password are written as %%23 and %%2F", flag)
	}
	return nil
}

func (c Config) checkKey() error {
	if c.SecretKey == "" {
		return nil
	}
	if err := secret.CheckKey(c.SecretKey); err != nil {
		return fmt.Errorf("--secret-key cannot be used: %w", err)
	}
	return nil
}

func (sc ServeConfig) checkListen() error {
	var problems []error
	for _, one := range []struct {
		flag, forms string
		addresses   []string
	}{
		{"listen", "host:port, unix:/path or systemd", sc.Listen},
		{"metrics-listen", "host:port", []string{sc.Inspect.MetricsListen}},
		{"debug-listen", "host:port", []string{sc.Inspect.DebugListen}},
	} {
		for _, address := range one.addresses {
			isSocket := one.flag == "listen" && (address == "systemd" || strings.HasPrefix(address, "unix:"))
			if address != "" && !isSocket && !isHostPort(address) {
				problems = append(problems, fmt.Errorf("--%s cannot listen on %q: write --%s as %s; a port is at most 65535", one.flag, address, one.flag, one.forms))
			}
		}
	}
	return errors.Join(problems...)
}

func isHostPort(address string) bool {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	_, err = net.DefaultResolver.LookupPort(context.Background(), "tcp", port)
	return err == nil
}
