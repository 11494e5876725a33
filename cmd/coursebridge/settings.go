package main

import (
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
	if text, set, err := valueFromFile(flag.Envs[0]); set || err != nil {
		return text, err
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

// valueFromFile returns the contents of the file that the variable with fileSuffix
// names; isSet reports whether that variable is set.
func valueFromFile(variable string) (text string, isSet bool, err error) {
	path, isSet := os.LookupEnv(variable + fileSuffix)
	if !isSet {
		return "", false, nil
	}
	contents, err := os.ReadFile(path)
	if err != nil {
		return "", true, fmt.Errorf("read the file that %[1]s%[2]s names: %[3]w; name a file that this user can read, or unset %[1]s%[2]s",
			variable, fileSuffix, err)
	}
	return strings.TrimSpace(string(contents)), true, nil
}

// readConfig reads the configuration file once.
func (f *fileResolver) readConfig(ctx *kong.Context) error {
	if f.config.values != nil {
		return nil
	}
	f.config = newConfigFile()
	path, err := configPath(ctx)
	if path == "" || err != nil {
		return err
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
	for _, one := range splitJoined(e.err) {
		texts = append(texts, one.Error())
	}
	return fmt.Sprintf("read the configuration file %s: %s", e.path, strings.Join(texts, "; "))
}

// configPath returns the value of --config, or of its variable, or of the file that its
// other variable names.
func configPath(ctx *kong.Context) (string, error) {
	for _, flag := range ctx.Model.Flags {
		if flag.Name == "config" {
			if path, _ := ctx.FlagValue(flag).(string); path != "" {
				return path, nil
			}
		}
	}
	if path, set := os.LookupEnv(configVariable); set {
		return path, nil
	}
	path, isSet, err := valueFromFile(configVariable)
	if !isSet || err != nil {
		return "", err
	}
	// The error does not print what the file holds: it may be the configuration itself, with secrets.
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the file that %[1]s%[2]s names must hold the path of a configuration file; %[1]s names a configuration file itself",
			configVariable, fileSuffix)
	}
	return path, nil
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

// warnOfUnknownVariables warns of variables with our prefix that are not settings.
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
