package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// certificateCheck is how often the files of a certificate are looked at, at most.
const certificateCheck = time.Second

// certificate is a certificate in two files, which may be replaced while the server
// runs.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	changed [2]time.Time // when the files were written
	checked time.Time
}

// tlsConfig returns the configuration of connections with the certificate in the files.
// It returns nil if no file is named.
func tlsConfig(certFile, keyFile string, log *slog.Logger) (*tls.Config, error) {
	if certFile == "" && keyFile == "" {
		return nil, nil //nolint:nilnil // Without a certificate connections are not encrypted.
	}
	if strings.ContainsAny(certFile+keyFile, "\r\n") {
		return nil, errors.New("--tls-cert and --tls-key must be names of files, not their contents")
	}
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	if err := c.load(); err != nil {
		return nil, fmt.Errorf("read the certificate (--tls-cert, --tls-key): %w; name two PEM files that belong together and that this user can read", err)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.get(), nil },
	}, nil
}

// load reads the files.
func (c *certificate) load() error {
	changed, err := c.times()
	if err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.current, c.changed = &pair, changed
	return nil
}

func (c *certificate) times() (out [2]time.Time, err error) {
	for i, path := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(path)
		if err != nil {
			return out, err
		}
		out[i] = info.ModTime()
	}
	return out, nil
}

// get returns the certificate. It reads the files again if they were replaced; as long
// as they do not fit together, the one before is used.
func (c *certificate) get() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.checked) < certificateCheck {
		return c.current
	}
	c.checked = time.Now()
	changed, err := c.times()
	if err == nil && changed == c.changed {
		return c.current
	}
	if err == nil {
		err = c.load()
	}
	if err != nil {
		c.log.Warn("the new certificate cannot be read; the old one is used", "error", err)
	} else {
		c.log.Info("the certificate was replaced", "file", c.certFile)
	}
	return c.current
}

// CheckCertificate returns an error if a server could not use the files of a
// certificate. Empty names mean that there is none.
func CheckCertificate(certFile, keyFile string) error {
	if certFile == "" || keyFile == "" {
		return nil
	}
	_, err := tlsConfig(certFile, keyFile, slog.New(slog.DiscardHandler))
	return err
}
