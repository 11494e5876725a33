package faults

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// deployed returns a file of deploy with texts replaced by others. Each text must be in
// the file.
func deployed(t *testing.T, name string, replace ...string) string {
	t.Helper()
	text, err := os.ReadFile("../../deploy/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(string(text), replace[i]) {
			t.Fatalf("deploy/%s has no %q", name, replace[i])
		}
		text = bytes.ReplaceAll(text, []byte(replace[i]), []byte(replace[i+1]))
	}
	return string(text)
}

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// freeAddress returns an address of this machine that was free a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// certificate writes a certificate and its key, and returns a client that ignores names.
func certificate(t *testing.T, dir string) (cert, key string, client *http.Client) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"courses.example"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	chain := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	secret := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
	cert = writeFile(t, filepath.Join(dir, "courses.example.pem"), chain+secret) // HAProxy reads both from one file
	key = writeFile(t, filepath.Join(dir, "courses.example.key"), secret)
	client = &http.Client{Timeout: timeout, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 16}}
	t.Cleanup(client.CloseIdleConnections)
	return cert, key, client
}

// startProxy starts a program and waits until the address answers through it.
func startProxy(t *testing.T, client *http.Client, url string, cmd *exec.Cmd) {
	t.Helper()
	output := newLogBuffer()
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	for began := time.Now(); ; {
		if resp, err := client.Get(url + "/healthz"); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-ended:
			t.Fatalf("%s ended:\n%s", cmd.Path, output.String())
		case <-time.After(50 * time.Millisecond):
		}
		if time.Since(began) > timeout {
			t.Fatalf("%s does not answer:\n%s", cmd.Path, output.String())
		}
	}
}

// checkProxy checks what every proxy has to do: hide the metrics, pass errors of the API
// on, and replace an address that the client made up.
func checkProxy(t *testing.T, client *http.Client, url string, servers ...*process) {
	t.Helper()
	for path, want := range map[string]int{"/metrics": http.StatusNotFound, "/api/v1/courses": http.StatusUnauthorized, "/cabinet/sign-in": http.StatusOK} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Forwarded-For", "198.51.100.66")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s through the proxy: %d, want %d: %s", path, resp.StatusCode, want, tail(string(body), 5))
		}
	}
	eventually(t, timeout, "the servers' log", func() error { // a line may be written after the answer
		log := ""
		for _, server := range servers {
			log += server.log.String()
		}
		switch {
		case strings.Contains(log, "198.51.100.66"):
			t.Errorf("the log has the client's own X-Forwarded-For:\n%s", tail(log, 10))
		case !strings.Contains(log, `"/api/v1/courses"`):
			return errors.New("it has no request")
		}
		return nil
	})
}

func TestNginxConfigurationWorks(t *testing.T) {
	t.Parallel()
	program, dir := pgtest.Program(t, "nginx"), t.TempDir()
	cert, key, client := certificate(t, dir)
	server := serve(t, sqliteDatabase(t), "--trusted-proxy", "127.0.0.1")
	listen := freeAddress(t)
	site := writeFile(t, filepath.Join(dir, "site.conf"), deployed(t, "nginx.conf", "server 127.0.0.1:8080", "server "+strings.TrimPrefix(server.url, "http://"),
		"listen 443 ssl", "listen "+listen+" ssl", "/etc/ssl/courses.example.pem", cert, "/etc/ssl/courses.example.key", key))
	main := writeFile(t, filepath.Join(dir, "nginx.conf"), "daemon off; master_process off; pid "+dir+"/pid; error_log stderr; events {}\n"+
		"http { access_log off; client_body_temp_path "+dir+"/body; proxy_temp_path "+dir+"/proxy; fastcgi_temp_path "+dir+"/f; uwsgi_temp_path "+dir+"/u; "+
		"scgi_temp_path "+dir+"/s; include "+site+"; }\n")
	startProxy(t, client, "https://"+listen, exec.Command(program, "-e", "stderr", "-c", main))
	checkProxy(t, client, "https://"+listen, server)
}

// Caddy would fetch a certificate for the name, so it serves the same site without one.
func TestCaddyConfigurationWorks(t *testing.T) {
	t.Parallel()
	program, dir := pgtest.Program(t, "caddy"), t.TempDir()
	server := serve(t, sqliteDatabase(t), "--trusted-proxy", "127.0.0.1")
	listen := freeAddress(t)
	config := writeFile(t, filepath.Join(dir, "Caddyfile"), "{\n\tadmin off\n}\n"+deployed(t, "Caddyfile", "courses.example {", "http://"+listen+" {",
		"reverse_proxy 127.0.0.1:8080", "reverse_proxy "+strings.TrimPrefix(server.url, "http://")))
	cmd := exec.Command(program, "run", "--adapter", "caddyfile", "--config", config)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	client := &http.Client{Timeout: timeout}
	startProxy(t, client, "http://"+listen, cmd)
	checkProxy(t, client, "http://"+listen, server)
}

func TestSystemdUnitsAreValid(t *testing.T) {
	t.Parallel()
	program, dir := pgtest.Program(t, "systemd-analyze"), t.TempDir()
	service := writeFile(t, filepath.Join(dir, "coursebridge.service"), deployed(t, "coursebridge.service", "/usr/bin/coursebridge", binary))
	socket := writeFile(t, filepath.Join(dir, "coursebridge.socket"), deployed(t, "coursebridge.socket"))
	if out, err := exec.Command(program, "verify", service, socket).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

func TestAlertRulesAreValid(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command(pgtest.Program(t, "promtool"), "check", "rules", "../../deploy/prometheus-alerts.yaml").CombinedOutput(); err != nil {
		t.Errorf("promtool check rules: %v\n%s", err, out)
	}
}
