package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
)

// fromDefault and fromFlag are sources of a value that an error does not have to name.
const (
	fromDefault = "default"
	fromFlag    = "command line"
)

// source describes where the value of a setting comes from.
func (f *fileResolver) source(ctx *kong.Context, flag *kong.Flag) string {
	if isGiven(ctx, flag.Name) {
		return fromFlag
	}
	if len(flag.Envs) == 0 {
		return fromDefault
	}
	if _, set := os.LookupEnv(flag.Envs[0]); set {
		return flag.Envs[0]
	}
	if path, set := os.LookupEnv(flag.Envs[0] + fileSuffix); set {
		return flag.Envs[0] + fileSuffix + ", " + path
	}
	if line, set := f.config.lines[flag.Name]; set {
		return fmt.Sprintf("%s, line %d", f.path, line)
	}
	return fromDefault
}

// isGiven reports whether a flag is on the command line.
func isGiven(ctx *kong.Context, flag string) bool {
	for _, p := range ctx.Path {
		if p.Flag != nil && p.Flag.Name == flag && !p.Resolved {
			return true
		}
	}
	return false
}

// flagInText matches the first flag that an error names.
var flagInText = regexp.MustCompile(`--([a-z][a-z-]*)`)

// withSources adds to each error about a setting where its value comes from.
func (f *fileResolver) withSources(ctx *kong.Context, err error) error {
	var inFile *configFileError
	if errors.As(err, &inFile) {
		return inFile
	}
	list := splitJoined(err)
	if len(list) == 1 {
		if source := f.sourceInError(ctx, err); source != "" {
			return fmt.Errorf("%s: %w", source, err)
		}
		return err
	}
	texts := make([]string, len(list))
	for i, one := range list {
		texts[i] = f.withSources(ctx, one).Error()
	}
	return errors.New(strings.Join(texts, "; "))
}

// sourceInError returns the variable or the file that holds the setting which an error is
// about. It is empty if the error is about none, or about a flag that was given.
func (f *fileResolver) sourceInError(ctx *kong.Context, err error) string {
	name := flagInText.FindStringSubmatch(err.Error())
	if ctx == nil || name == nil || strings.Contains(err.Error(), "(from envar ") { // kong names the variable itself
		return ""
	}
	for _, flag := range ctx.Flags() {
		if flag.Name != name[1] {
			continue
		}
		if source := f.source(ctx, flag); source != fromFlag && source != fromDefault {
			return source
		}
	}
	return ""
}

// splitJoined returns the errors that were joined. An error that only wraps joined ones,
// and so says more than they do, is not split.
func splitJoined(err error) []error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) || err.Error() != errors.Join(joined.Unwrap()...).Error() {
		return []error{err}
	}
	var out []error
	for _, one := range joined.Unwrap() {
		out = append(out, splitJoined(one)...)
	}
	return out
}

// helpWithDefault adds the default of a flag to its help, after the variable that kong adds.
func helpWithDefault(value *kong.Value) string {
	help := kong.DefaultHelpValueFormatter(value)
	if value.Default == "" || value.IsBool() {
		return help
	}
	return help + " Default: " + value.Default + "."
}
