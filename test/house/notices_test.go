package house

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bundledPackages are the npm packages whose code is part of the program.
var bundledPackages = []string{"@fontsource-variable/inter", "daisyui", "htmx.org", "swagger-ui-dist", "tailwindcss", "uplot"}

// The notices that are distributed with the program name every module and every
// bundled package in the version that is used.
func TestNoticesAreComplete(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "THIRD_PARTY_NOTICES.txt"))
	if err != nil {
		t.Fatal(err)
	}
	notices := string(text)
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "./cmd/coursebridge")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatalf("list the modules: %v", err)
	}
	wanted := strings.Fields(strings.ReplaceAll(string(out), " ", "\x00"))
	raw, err := os.ReadFile(filepath.Join(root, "web", "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ DevDependencies map[string]string }
	if err := json.Unmarshal(raw, &manifest); err != nil {
		t.Fatal(err)
	}
	for _, name := range bundledPackages {
		wanted = append(wanted, name+"\x00"+manifest.DevDependencies[name])
	}
	for _, dependency := range wanted {
		if title := "\n" + strings.ReplaceAll(dependency, "\x00", " ") + "\n"; !strings.Contains(notices, title) {
			t.Errorf("THIRD_PARTY_NOTICES.txt has no %q: run make notices", strings.TrimSpace(title))
		}
	}
}
