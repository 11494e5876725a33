package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

const (
	envPrefix = "COURSEBRIDGE_"
	// fileSuffix is appended to a variable's name to name a file that holds its value.
	fileSuffix = "_FILE"
	// configVariable names the configuration file, as --config does.
	configVariable = envPrefix + "CONFIG"
)

// fileResolver finds settings in the files that COURSEBRIDGE_…_FILE and --config
// name. Flags and variables take precedence; kong reads both.
type fileResolver struct {
	path   string // of the configuration file, if one was read
	config configFile
}

// configFile is what a configuration file says, by setting.
type configFile struct {
	values map[string]string // nil until the file was read
	lines  map[string]int
}

var _ kong.Resolver = (*fileResolver)(nil)

// Validate implements kong.Resolver.
func (*fileResolver) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver.
func (f *fileResolver) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if len(flag.Envs) == 0 {
		return nil, nil //nolint:nilnil // An argument of one call comes from the command line alone.
	}
	if _, set := os.LookupEnv(flag.Envs[0]); set {
		return nil, nil //nolint:nilnil // kong has read it.
	}
	if path, set := os.LookupEnv(flag.Envs[0] + fileSuffix); set {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read the file that %[1]s%[2]s names: %[3]w; name a file that this user can read, or unset %[1]s%[2]s",
				flag.Envs[0], fileSuffix, err)
		}
		return strings.TrimSpace(string(text)), nil
	}
	if flag.Name == "config" {
		return nil, nil //nolint:nilnil // The configuration file does not name itself.
	}
	if err := f.readConfig(ctx); err != nil {
		return nil, err
	}
	if value, found := f.config.values[flag.Name]; found {
		return value, nil
	}
	return nil, nil //nolint:nilnil // No file has it.
}

// readConfig reads the configuration file once.
func (f *fileResolver) readConfig(ctx *kong.Context) error {
	if f.config.values != nil {
		return nil
	}
	f.config = newConfigFile()
	path := configPath(ctx)
	if path == "" {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return &configFileError{path, fmt.Errorf("%w; name a file that this user can read with --config or %s, or leave it out", err, configVariable)}
	}
	defer func() { _ = file.Close() }()
	f.path = path
	if f.config, err = parseConfig(file, settingNames(ctx.Model)); err != nil {
		return &configFileError{path, err}
	}
	return nil
}

// configFileError is an error in the configuration file, which may have several.
type configFileError struct {
	path string
	err  error
}

func (e *configFileError) Error() string {
	texts := make([]string, 0, 1)
	for _, one := range separate(e.err) {
		texts = append(texts, one.Error())
	}
	return fmt.Sprintf("read the configuration file %s: %s", e.path, strings.Join(texts, "; "))
}

func newConfigFile() configFile { return configFile{map[string]string{}, map[string]int{}} }

// configPath returns the value of --config or its variable.
func configPath(ctx *kong.Context) string {
	for _, flag := range ctx.Model.Flags {
		if flag.Name == "config" {
			path, _ := ctx.FlagValue(flag).(string)
			if path == "" {
				path = os.Getenv(flag.Envs[0])
			}
			return path
		}
	}
	return ""
}

// parseConfig parses a configuration file: lines of the form "name: value" or
// "name = value". It is the part of YAML that settings need: comments, quotes and lists,
// either [a, b] or one "- a" per line.
func parseConfig(in io.Reader, known map[string]string) (configFile, error) {
	out, problems := newConfigFile(), []error(nil)
	lines, list := bufio.NewScanner(in), "" // list is the setting that "- a" lines belong to
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' || line == "---" {
			continue
		}
		if item, isItem := strings.CutPrefix(line, "- "); isItem && list != "" {
			if out.values[list] != "" {
				out.values[list] += ","
			}
			out.values[list] += unquote(item)
			continue
		}
		name, err := out.add(n, line, known)
		if err != nil {
			problems = append(problems, err)
		}
		list = name
	}
	return out, errors.Join(append(problems, lines.Err())...)
}

// add adds the setting of a line and returns its name.
func (c configFile) add(n int, line string, known map[string]string) (string, error) {
	at := strings.IndexAny(line, ":=")
	if at < 0 {
		return "", fmt.Errorf("line %d must have the form name: value", n)
	}
	name, value := strings.TrimSpace(line[:at]), strings.TrimSpace(line[at+1:])
	if _, isSetting := known[name]; !isSetting {
		return "", fmt.Errorf("line %d: %q is not a setting%s", n, name, didYouMean(name, slices.Sorted(maps.Keys(known))))
	}
	if _, twice := c.values[name]; twice {
		return "", fmt.Errorf("line %d: %s is set twice, first in line %d", n, name, c.lines[name])
	}
	c.values[name], c.lines[name] = configValue(value), n
	return name, nil
}

// configValue returns the value of a setting; the items of a list are joined by commas.
func configValue(text string) string {
	if !strings.HasPrefix(text, "[") || !strings.HasSuffix(text, "]") {
		return unquote(text)
	}
	values := strings.Split(text[1:len(text)-1], ",")
	for i := range values {
		values[i] = unquote(strings.TrimSpace(values[i]))
	}
	return strings.Join(values, ",")
}

// unquote removes quotes, or a comment after a value without quotes.
func unquote(text string) string {
	for _, quote := range []string{`"`, "'"} {
		if inner, quoted := strings.CutPrefix(text, quote); quoted {
			if inner, _, quoted = strings.Cut(inner, quote); quoted {
				return inner
			}
		}
	}
	text, _, _ = strings.Cut(text, " #")
	return strings.TrimSpace(text)
}

// settingNames returns the names of all settings with their variables.
func settingNames(model *kong.Application) map[string]string {
	names := map[string]string{}
	_ = kong.Visit(model.Node, func(v kong.Visitable, next kong.Next) error {
		if flag, ok := v.(*kong.Flag); ok && len(flag.Envs) > 0 {
			names[flag.Name] = flag.Envs[0]
		}
		return next(nil)
	})
	return names
}

// serviceVariable matches variables that Kubernetes sets for a service that is
// called coursebridge, and those of our own tests.
var serviceVariable = regexp.MustCompile(`^COURSEBRIDGE_(PORT|SERVICE_HOST|SERVICE_PORT|PORT_.*|SERVICE_PORT_.*|TEST_.*)$`)

// warnOfUnknownVariables warns of variables that look like settings and are none.
func warnOfUnknownVariables(w io.Writer, model *kong.Application, environ []string) {
	known := map[string]bool{}
	for _, variable := range settingNames(model) {
		known[variable], known[variable+fileSuffix] = true, true
	}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) || known[name] || serviceVariable.MatchString(name) {
			continue
		}
		_, _ = fmt.Fprintln(w, "coursebridge: warning: "+name+" is not a setting and has no effect"+
			didYouMean(name, slices.Sorted(maps.Keys(known))))
	}
}
