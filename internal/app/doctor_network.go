package app

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// certificateNotice is how long before its end a certificate is warned of.
const certificateNotice = 14 * 24 * time.Hour

// checkDNS resolves the names of the database's hosts and of the public address.
func (c *checker) checkDNS(ctx context.Context, public string) {
	var names []string
	for _, address := range []string{c.Config.Database, c.Config.DatabaseDirect, c.Config.DatabaseRead, public} {
		names = append(names, hostNames(address)...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		limited, cancel := context.WithTimeout(ctx, doctorTimeout)
		found, err := net.DefaultResolver.LookupHost(limited, name)
		cancel()
		if err != nil {
			c.fail("dns", "correct the name, or the name servers in /etc/resolv.conf", "%s cannot be resolved: %v", name, err)
			continue
		}
		c.ok("dns", "%s is %s", name, strings.Join(found, ", "))
	}
	if len(names) == 0 {
		c.ok("dns", "the settings need no name to be resolved")
	}
}

// hostNames returns the names in an address that have to be resolved.
func hostNames(address string) []string {
	if _, ok := sqlitePath(address); ok {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	var out []string
	for host := range strings.SplitSeq(u.Host, ",") { // PostgreSQL's addresses may name several
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if host != "" && net.ParseIP(strings.Trim(host, "[]")) == nil {
			out = append(out, host)
		}
	}
	return out
}

// checkPublicURL calls the service at its public address, as people do.
func (c *checker) checkPublicURL(ctx context.Context, address string) {
	if address == "" {
		c.warn("public-url", "serve --public-url https://courses.example, for links in invitations and pages",
			"no public address is set: links begin with the address that a server listens on")
		return
	}
	limited, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodGet, address+"/healthz", http.NoBody)
	if err != nil {
		c.fail("public-url", "correct --public-url", "%v", err)
		return
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.fail("public-url", "is a server running, and does the proxy forward to it? Is the certificate valid for this name?", "%v", err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, mebibyte))
	if resp.StatusCode != http.StatusOK {
		c.fail("public-url", "let the proxy forward every path to the servers", "%s/healthz answers %s", address, resp.Status)
		return
	}
	c.ok("public-url", "%s answers", address)
	c.checkPeerCertificate(resp.TLS)
}

// checkPeerCertificate checks how long the certificate at the public address is valid.
func (c *checker) checkPeerCertificate(state *tls.ConnectionState) {
	if state == nil || len(state.PeerCertificates) == 0 {
		return
	}
	end := state.PeerCertificates[0].NotAfter
	if left := time.Until(end); left < certificateNotice {
		c.warn("public-url", "renew it, and check that the renewal runs by itself", "its certificate ends on %s", end.Format(time.DateOnly))
	}
}

func (c *checker) checkCAs() {
	if err := checkCertificates(); err != nil {
		c.warn("ca-certificates", "install ca-certificates, or name a file in SSL_CERT_FILE", "webhooks to https targets will fail: %v", err)
		return
	}
	c.ok("ca-certificates", "this machine has some")
}

// checkPermissions checks that the program can write where it must, and that other users
// cannot read secrets.
func (c *checker) checkPermissions() {
	before := len(c.findings)
	private := slices.Clone(c.SecretFiles)
	if path, ok := sqlitePath(c.Config.Database); ok {
		private = append(private, path, path+keySuffix)
		c.checkWritable(path)
	}
	if c.Serve.TLSKey != "" {
		private = append(private, c.Serve.TLSKey)
	}
	for _, path := range private {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
			c.warn("permissions", fmt.Sprintf("chmod 600 %s (and chown it to the user of the server)", path), "other users may open %s: its mode is %04o", path, info.Mode().Perm())
		}
	}
	if len(c.findings) == before {
		c.ok("permissions", "files are writable where they must be, and secrets are readable only by their owner")
	}
}

// checkWritable checks that an SQLite database and its folder can be written: SQLite makes
// files next to it.
func (c *checker) checkWritable(path string) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	switch {
	case os.IsNotExist(err): // reported as the database's
		return
	case err != nil:
		c.fail("permissions", "run doctor as the server's user; chown the file to it", "%v", err)
		return
	}
	_ = f.Close()
	probe, err := os.CreateTemp(filepath.Dir(path), ".coursebridge-doctor-")
	if err != nil {
		c.fail("permissions", "let the server's user write to the folder: SQLite makes files next to the database", "%v", err)
		return
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
}
