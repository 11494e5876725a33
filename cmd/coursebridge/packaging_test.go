package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/go-faster/yaml"
)

// wantCommand fails unless the arguments are a command of the program.
func wantCommand(t *testing.T, where string, args []string) {
	t.Helper()
	var cli commands
	parser, err := kong.New(&cli, kong.Writers(io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(args); err != nil {
		t.Errorf("%s: %q: %v", where, args, err)
	}
}

// wantVariable fails unless the name is a setting of the program.
func wantVariable(t *testing.T, where, name string) {
	t.Helper()
	parser, err := kong.New(&commands{})
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range settingNames(parser.Model) {
		if variable == name {
			return
		}
	}
	t.Errorf("%s: %s is not a setting", where, name)
}

// A test cannot build an image, which needs base images. This checks what the build relies on: everything that the
// program is built from is copied and sent to the builder, the flags are those of the release, and the
// image starts commands of the program as an unprivileged user.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	sent, err := os.ReadFile("../../.dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	dockerfile := strings.ReplaceAll(string(text), "\\\n", " ")
	var copied, allowed []string
	for _, line := range regexp.MustCompile(`(?m)^COPY ([^-\n].*) \S+$`).FindAllStringSubmatch(dockerfile, -1) {
		copied = append(copied, strings.Fields(line[1])...)
	}
	for _, line := range regexp.MustCompile(`(?m)^!(\S+)$`).FindAllStringSubmatch(string(sent), -1) {
		allowed = append(allowed, line[1])
	}
	for _, file := range append(sourceFiles(t), "go.mod", "go.sum", "LICENSE", "THIRD_PARTY_NOTICES.txt") {
		if !matches(copied, file) {
			t.Errorf("the program is built from %s, which the Dockerfile does not copy", file)
		}
		if !matches(allowed, file) {
			t.Errorf("the program is built from %s, which .dockerignore keeps from the builder", file)
		}
	}
	var program []string
	for _, instruction := range []string{"ENTRYPOINT", "CMD", "HEALTHCHECK .* CMD"} {
		found := regexp.MustCompile(`(?m)^` + instruction + ` (\[.*\])$`).FindStringSubmatch(dockerfile)
		var words []string
		if found == nil || json.Unmarshal([]byte(found[1]), &words) != nil {
			t.Fatalf("there is no %s", instruction)
		}
		switch instruction {
		case "ENTRYPOINT":
			program = words
		case "CMD":
			wantCommand(t, instruction, words)
		default:
			wantCommand(t, instruction, words[1:])
			if words[0] != program[0] {
				t.Errorf("the health check runs %s, the image %s", words[0], program[0])
			}
		}
	}
	for _, want := range []string{
		"-o /image" + program[0] + " ", "CGO_ENABLED=0", `-trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION"`,
		"\nFROM scratch\n", "\nUSER 65532:65532\n", "\nFROM --platform=$BUILDPLATFORM golang:" + toolchain(t) + "-",
	} {
		if !strings.Contains(dockerfile, want) {
			t.Errorf("the Dockerfile lacks %q", want)
		}
	}
	for _, set := range regexp.MustCompile(`(?m)^ENV (\w+)=`).FindAllStringSubmatch(dockerfile, -1) {
		wantVariable(t, "Dockerfile", set[1])
	}
}

// sourceFiles returns the files of this module that the program is built from, embedded
// ones included.
func sourceFiles(t *testing.T) (files []string) {
	t.Helper()
	const format = `{{with .Module}}{{if .Main}}{{range $.GoFiles}}{{$.Dir}}/{{.}}
{{end}}{{range $.EmbedFiles}}{{$.Dir}}/{{.}}
{{end}}{{end}}{{end}}`
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", format, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range strings.Fields(string(out)) {
		files = append(files, filepath.ToSlash(strings.TrimPrefix(file, root+string(filepath.Separator))))
	}
	return files
}

// matches reports whether a file is one of these paths, lies below one or fits its pattern.
func matches(paths []string, file string) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		fits, _ := path.Match(p, file)
		return fits || strings.HasPrefix(file, p+"/")
	})
}

// toolchain returns the version of Go that go.mod names.
func toolchain(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(string(text))[1]
}

// The compose file starts two replicas with settings that exist, on one database.
func TestComposeFile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			Build       string            `yaml:"build"`
			Environment map[string]string `yaml:"environment"`
			DependsOn   any               `yaml:"depends_on"`
		} `yaml:"services"`
		Configs map[string]struct {
			Content string `yaml:"content"`
		} `yaml:"configs"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	replicas := 0
	for name, service := range file.Services {
		if service.Build == "" {
			continue
		}
		replicas++
		if !strings.Contains(file.Configs["caddyfile"].Content, name+":8080") {
			t.Errorf("the proxy does not know %s", name)
		}
		if !strings.Contains(service.Environment["COURSEBRIDGE_DATABASE"], "@database/") {
			t.Errorf("%s uses the database %s", name, service.Environment["COURSEBRIDGE_DATABASE"])
		}
		for variable := range service.Environment {
			wantVariable(t, name, variable)
		}
	}
	if replicas != 2 {
		t.Errorf("%d replicas, want 2", replicas)
	}
	for _, line := range regexp.MustCompile(`(?m)^#   docker compose exec \S+ coursebridge (.*)$`).FindAllStringSubmatch(string(text), -1) {
		wantCommand(t, "compose.yaml", strings.Fields(line[1]))
	}
}
