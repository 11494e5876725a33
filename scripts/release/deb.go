package main

import (
	"bytes"
	"crypto/md5" //nolint:gosec // dpkg compares installed files by MD5; the package itself is in SHA256SUMS.
	"embed"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

//go:embed debian
var maintainerScripts embed.FS

// debian returns the Debian package of an architecture, whose names are Go's for those
// that we build.
func (r *release) debian(arch, binary string, extra map[string][]byte) ([]byte, error) {
	files, err := debianFiles(binary, extra)
	if err != nil {
		return nil, err
	}
	size := 0
	var sums strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		size += len(files[name].data)
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(files[name].data), name) //nolint:gosec // See the import.
	}
	control := map[string]packedFile{
		"conffiles": {[]byte("/etc/coursebridge/coursebridge.yaml\n"), 0o644},
		"md5sums":   {[]byte(sums.String()), 0o644},
		"control": {fmt.Appendf(nil, `Package: coursebridge
Version: %s
Architecture: %s
Maintainer: The coursebridge authors <https://github.com/coursebridge/coursebridge>
Installed-Size: %d
Recommends: ca-certificates
Suggests: postgresql
Section: web
Priority: optional
Homepage: https://github.com/coursebridge/coursebridge
Description: API, cabinet and webhooks of a learning platform
 Connects a company's HR, LMS or CRM system to its business cabinet of a
 learning platform. One binary keeps everything in SQLite or PostgreSQL.
`, debianVersion(r.version), arch, (size+1023)/1024), 0o644},
	}
	for _, name := range []string{"postinst", "prerm", "postrm"} {
		script, err := maintainerScripts.ReadFile("debian/" + name)
		if err != nil {
			return nil, err
		}
		control[name] = packedFile{script, 0o755}
	}
	controlArchive, err := r.archive("./", control)
	if err != nil {
		return nil, err
	}
	dataArchive, err := r.archive("./", files)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString("!<arch>\n")
	r.member(&out, "debian-binary", []byte("2.0\n"))
	r.member(&out, "control.tar.gz", controlArchive)
	r.member(&out, "data.tar.gz", dataArchive)
	return out.Bytes(), nil
}

// member adds a file to an ar archive.
func (r *release) member(out *bytes.Buffer, name string, data []byte) {
	fmt.Fprintf(out, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", name, r.time.Unix(), 0, 0, "100644", len(data))
	out.Write(data)
	if len(data)%2 == 1 {
		out.WriteByte('\n')
	}
}

// debianFiles returns what the package installs, by path.
func debianFiles(binary string, extra map[string][]byte) (map[string]packedFile, error) {
	files := map[string]packedFile{}
	for from, to := range map[string]string{
		binary:                        "usr/bin/coursebridge",
		"deploy/coursebridge.service": "usr/lib/systemd/system/coursebridge.service",
		"deploy/coursebridge.socket":  "usr/lib/systemd/system/coursebridge.socket",
		"deploy/coursebridge.yaml":    "etc/coursebridge/coursebridge.yaml",
		"LICENSE":                     "usr/share/doc/coursebridge/copyright",
		"THIRD_PARTY_NOTICES.txt":     "usr/share/doc/coursebridge/THIRD_PARTY_NOTICES.txt",
		"CHANGELOG.md":                "usr/share/doc/coursebridge/CHANGELOG.md",
	} {
		data, err := os.ReadFile(from)
		if err != nil {
			return nil, err
		}
		mode := int64(0o644)
		if from == binary {
			mode = 0o755
		}
		files[to] = packedFile{data, mode}
	}
	for from, to := range map[string]string{
		"man/coursebridge.1":            "usr/share/man/man1/coursebridge.1",
		"completions/coursebridge":      "usr/share/bash-completion/completions/coursebridge",
		"completions/_coursebridge":     "usr/share/zsh/vendor-completions/_coursebridge",
		"completions/coursebridge.fish": "usr/share/fish/vendor_completions.d/coursebridge.fish",
	} {
		files[to] = packedFile{extra[from], 0o644}
	}
	return files, nil
}

// debianVersion turns git's description of a commit into a version that Debian sorts
// right: v1.2.0-4-gabc is newer than v1.2.0, and a commit without a tag is older than any.
func debianVersion(version string) string {
	version = strings.ReplaceAll(strings.TrimPrefix(version, "v"), "-", "+")
	if !strings.Contains(version, ".") {
		version = "0~" + version
	}
	return version
}
