package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// describedFiles stand for what the program prints about itself.
var describedFiles = map[string][]byte{
	"man/coursebridge.1": []byte("man"), "completions/coursebridge": []byte("bash"),
	"completions/_coursebridge": []byte("zsh"), "completions/coursebridge.fish": []byte("fish"),
}

// packSelf packs this test's own program, which the linker has described as it does ours.
// make release-check compares two real builds.
func packSelf(t *testing.T) string {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := release{version: "v1.2.0-4-gabcdef", out: t.TempDir(), time: time.Unix(1_800_000_000, 0).UTC()}
	for _, p := range []platform{{"linux", "amd64"}, {"darwin", "arm64"}} {
		if err := r.pack(p, binary, describedFiles); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.writeChecksums(); err != nil {
		t.Fatal(err)
	}
	return r.out
}

// listArchive returns the modes of the files of a tar.gz, by path.
func listArchive(t *testing.T, path string) map[string]int64 {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	uncompressed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	out, files := map[string]int64{}, tar.NewReader(uncompressed)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out[header.Name] = header.Mode
	}
}

func TestPacking(t *testing.T) { //nolint:paralleltest // it changes the working directory
	t.Chdir("../..")
	out := packSelf(t)
	names, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil || len(names) != 6 {
		t.Fatalf("wrote %v, %v", names, err)
	}
	again := packSelf(t)
	for _, name := range names {
		first, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := os.ReadFile(filepath.Join(again, filepath.Base(name))); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s differs between two runs: %v", filepath.Base(name), err)
		}
	}
	folder := "coursebridge_v1.2.0-4-gabcdef_darwin_arm64"
	packed := listArchive(t, filepath.Join(out, folder+".tar.gz"))
	for name, mode := range map[string]int64{
		"": 0o755, "coursebridge": 0o755, "LICENSE": 0o644, "THIRD_PARTY_NOTICES.txt": 0o644, "man/coursebridge.1": 0o644,
		"completions/_coursebridge": 0o644, "deploy/coursebridge.service": 0o644,
	} {
		if got, found := packed[folder+"/"+name]; !found || got != mode {
			t.Errorf("%s in the archive: found %t with mode %o, want %o", name, found, got, mode)
		}
	}
	checkSBOM(t, filepath.Join(out, folder+".cdx.json"))
	checkDebian(t, filepath.Join(out, "coursebridge_1.2.0+4+gabcdef_amd64.deb"))
}

func checkSBOM(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var bom cycloneDX
	if err := json.Unmarshal(text, &bom); err != nil {
		t.Fatal(err)
	}
	refs := map[string]bool{}
	for _, c := range bom.Components {
		if refs[c.Ref] || c.Version == "" {
			t.Errorf("the component %+v occurs twice or has no version", c)
		}
		refs[c.Ref] = true
	}
	if bom.Metadata.Component.Version != "v1.2.0-4-gabcdef" || !strings.Contains(string(text), "pkg:npm/%40fontsource-variable/inter@") || !strings.Contains(string(text), "pkg:npm/uplot@") || strings.Contains(string(text), "esbuild") {
		t.Errorf("the SBOM is wrong:\n%s", text)
	}
}

// checkDebian reads the package with dpkg, where the machine has it.
func checkDebian(t *testing.T, path string) {
	t.Helper()
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		if os.Getenv("COURSEBRIDGE_TEST_FULL") != "" {
			t.Errorf("dpkg-deb is needed to read the package: %v", err)
		}
		return
	}
	for option, wants := range map[string][]string{
		"--field":    {"Package: coursebridge", "Version: 1.2.0+4+gabcdef", "Architecture: amd64"},
		"--info":     {"conffiles", "postinst", "prerm", "postrm"},
		"--contents": {"-rwxr-xr-x root/root", " ./usr/bin/coursebridge\n", " ./usr/lib/systemd/system/coursebridge.service\n", " ./etc/coursebridge/coursebridge.yaml\n", " ./usr/share/man/man1/coursebridge.1\n"},
	} {
		text, err := exec.CommandContext(t.Context(), "dpkg-deb", option, path).CombinedOutput()
		if err != nil {
			t.Errorf("dpkg-deb %s: %v\n%s", option, err, text)
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want) {
				t.Errorf("dpkg-deb %s lacks %q:\n%s", option, want, text)
			}
		}
	}
}

func TestDebianVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{"v1.2.0": "1.2.0", "v1.2.0-4-gabc-dirty": "1.2.0+4+gabc+dirty", "c736e11": "0~c736e11"} {
		if got := debianVersion(version); got != want {
			t.Errorf("%s becomes %s, want %s", version, got, want)
		}
	}
}
