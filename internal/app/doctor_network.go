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

// names resolves the names of the database's hosts and of the public address.
func (x *examination) names(ctx context.Context, public string) {
	var names []string
	for _, address := range []string{x.Config.Database, x.Config.DatabaseDirect, public} {
		names = append(names, hostNames(address)...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		limited, cancel := context.WithTimeout(ctx, doctorTimeout)
		found, err := net.DefaultResolver.LookupHost(limited, name)
		cancel()
		if err != nil {
			x.fail("dns", "correct the name, or the name servers in /etc/resolv.conf", "%s cannot be resolved: %v", name, err)
			continue
		}
		x.ok("dns", "%s is %s", name, strings.Join(found, ", "))
	}
	if len(names) == 0 {
		x.ok("dns", "the settings need no name to be resolved")
	}
}

// hostNames returns the names in an address that have to be resolved.
func hostNames(address string) []string {
	if strings.HasPrefix(address, sqliteScheme) {
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

// reach calls the service at its public address, as people do.
func (x *examination) reach(ctx context.Context, address string) {
	if address == "" {
		x.warn("public-url", "serve --public-url https://courses.example, for links in invitations and pages",
			"no public address is set: links begin with the address that a server listens on")
		return
	}
	limited, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodGet, address+"/healthz", http.NoBody)
	if err != nil {
		x.fail("public-url", "correct --public-url", "%v", err)
		return
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		x.fail("public-url", "is a server running, and does the proxy forward to it? Is the certificate valid for this name?", "%v", err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, mebibyte))
	if resp.StatusCode != http.StatusOK {
		x.fail("public-url", "let the proxy forward every path to the servers", "%s/healthz answers %s", address, resp.Status)
		return
	}
	x.ok("public-url", "%s answers", address)
	x.peer(resp.TLS)
}

// peer checks how long the certificate at the public address is valid.
func (x *examination) peer(state *tls.ConnectionState) {
	if state == nil || len(state.PeerCertificates) == 0 {
		return
	}
	end := state.PeerCertificates[0].NotAfter
	if left := time.Until(end); left < certificateNotice {
		x.warn("public-url", "renew it, and check that the renewal runs by itself", "its certificate ends on %s", end.Format(time.DateOnly))
	}
}

func (x *examination) certificates() {
	if err := checkCertificates(); err != nil {
		x.warn("ca-certificates", "install ca-certificates, or name a file in SSL_CERT_FILE", "webhooks to https targets will fail: %v", err)
		return
	}
	x.ok("ca-certificates", "this machine has some")
}

// permissions checks that the program can write where it must, and that other users
// cannot read secrets.
func (x *examination) permissions() {
	before := len(x.findings)
	private := slices.Clone(x.SecretFiles)
	if path, ok := strings.CutPrefix(x.Config.Database, sqliteScheme); ok {
		private = append(private, path, path+keySuffix)
		x.writable(path)
	}
	if x.Serve.TLSKey != "" {
		private = append(private, x.Serve.TLSKey)
	}
	for _, path := range private {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
			x.warn("permissions", fmt.Sprintf("chmod 600 %s (and chown it to the user of the server)", path), "other users may open %s: its mode is %04o", path, info.Mode().Perm())
		}
	}
	if len(x.findings) == before {
		x.ok("permissions", "files are writable where they must be, and secrets are readable only by their owner")
	}
}

// writable checks that an SQLite database and its folder can be written: SQLite makes
// files next to it.
func (x *examination) writable(path string) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	switch {
	case os.IsNotExist(err): // reported as the database's
		return
	case err != nil:
		x.fail("permissions", "run doctor as the server's user; chown the file to it", "%v", err)
		return
	}
	_ = f.Close()
	probe, err := os.CreateTemp(filepath.Dir(path), ".coursebridge-doctor-")
	if err != nil {
		x.fail("permissions", "let the server's user write to the folder: SQLite makes files next to the database", "%v", err)
		return
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
}
