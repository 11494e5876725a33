// Command release builds the program for every platform and packs it: archives, Debian
// packages, a list of components for each (SBOM) and checksums. The same commit, version
// and Go toolchain produce the same bytes, wherever they are built.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	var (
		r         release
		platforms = flag.String("platforms", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64", "what to build for")
	)
	flag.StringVar(&r.version, "version", "", "the version, as git describes it")
	flag.StringVar(&r.out, "out", "dist", "the directory to write to")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := r.run(ctx, strings.Split(*platforms, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}

// release is one version of the program.
type release struct {
	version string
	out     string
	time    time.Time // of every packed file
}

// platform is an operating system with an architecture, in Go's words.
type platform struct{ os, arch string }

func (r *release) run(ctx context.Context, platforms []string) error {
	if r.version == "" {
		return errors.New("-version is missing: run make release")
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return errors.New("SOURCE_DATE_EPOCH is not set to the seconds of the commit's time: run make release")
	}
	r.time = time.Unix(seconds, 0).UTC()
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "coursebridge-release")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	extra, err := r.describe(ctx, work)
	if err != nil {
		return err
	}
	for _, name := range platforms {
		system, arch, _ := strings.Cut(name, "/")
		binary := filepath.Join(work, "coursebridge-"+system+"-"+arch)
		if err := r.build(ctx, platform{system, arch}, binary); err != nil {
			return err
		}
		if err := r.pack(platform{system, arch}, binary, extra); err != nil {
			return fmt.Errorf("pack %s: %w", name, err)
		}
	}
	return r.writeChecksums()
}

// build compiles the program for a platform.
func (r *release) build(ctx context.Context, p platform, binary string) error {
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X main.version="+r.version, "-o", binary, "./cmd/coursebridge")
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=")
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("build for %s/%s: %w", p.os, p.arch, err)
	}
	return nil
}

// describe returns the files that the program prints about itself: the manual page and
// the completion scripts.
func (r *release) describe(ctx context.Context, work string) (map[string][]byte, error) {
	binary := filepath.Join(work, "coursebridge")
	if err := r.build(ctx, platform{runtime.GOOS, runtime.GOARCH}, binary); err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for name, args := range map[string][]string{
		"man/coursebridge.1":            {"man"},
		"completions/coursebridge":      {"completion", "bash"},
		"completions/_coursebridge":     {"completion", "zsh"},
		"completions/coursebridge.fish": {"completion", "fish"},
	} {
		text, err := exec.CommandContext(ctx, binary, args...).Output()
		if err != nil {
			return nil, fmt.Errorf("coursebridge %s: %w", strings.Join(args, " "), err)
		}
		out[name] = text
	}
	return out, nil
}

// maxArchive is the largest size of an archive in bytes. The image with the same program
// is about as large when it is pulled.
const maxArchive = 30_000_000

// pack writes the archive and the SBOM of a platform and, for Linux, the Debian package.
func (r *release) pack(p platform, binary string, extra map[string][]byte) error {
	name := fmt.Sprintf("coursebridge_%s_%s_%s", r.version, p.os, p.arch)
	files, err := archiveFiles(binary, extra)
	if err != nil {
		return err
	}
	archive, err := r.archive(name+"/", files)
	if err != nil {
		return err
	}
	if len(archive) > maxArchive {
		return fmt.Errorf("the archive has %d bytes, want %d at most: find out what made the program grow (go tool nm -size -sort size)", len(archive), maxArchive)
	}
	if err := r.write(name+".tar.gz", archive); err != nil {
		return err
	}
	components, err := r.sbom(binary, p)
	if err != nil {
		return err
	}
	if err := r.write(name+".cdx.json", components); err != nil {
		return err
	}
	if p.os != "linux" {
		return nil
	}
	deb, err := r.debian(p.arch, binary, extra)
	if err != nil {
		return err
	}
	return r.write(fmt.Sprintf("coursebridge_%s_%s.deb", debianVersion(r.version), p.arch), deb)
}

func (r *release) write(name string, data []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), data, 0o644)
}

// writeChecksums writes SHA256SUMS over everything else in the directory.
func (r *release) writeChecksums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var lines []string
	for _, entry := range entries {
		if entry.Name() == "SHA256SUMS" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(r.out, entry.Name()))
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(data), entry.Name()))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[66:], b[66:]) })
	return r.write("SHA256SUMS", []byte(strings.Join(lines, "")))
}
