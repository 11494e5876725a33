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
	for _, p := range ctx.Path {
		if p.Flag != nil && p.Flag.Name == flag.Name && !p.Resolved {
			return fromFlag
		}
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

// flagInText matches the first flag that an error names.
var flagInText = regexp.MustCompile(`--([a-z][a-z-]*)`)

// located adds to each error about a setting the place that its value comes from.
func (f *fileResolver) located(ctx *kong.Context, err error) error {
	var inFile *configFileError
	if errors.As(err, &inFile) {
		return inFile
	}
	list := separate(err)
	if len(list) == 1 {
		if where := f.where(ctx, err); where != "" {
			return fmt.Errorf("%s: %w", where, err)
		}
		return err
	}
	texts := make([]string, len(list))
	for i, one := range list {
		texts[i] = f.located(ctx, one).Error()
	}
	return errors.New(strings.Join(texts, "; "))
}

// where returns the variable or the file that holds the setting which an error is
// about. It is empty if the error is about none, or about a flag that was given.
func (f *fileResolver) where(ctx *kong.Context, err error) string {
	name := flagInText.FindStringSubmatch(err.Error())
	if ctx == nil || name == nil || strings.Contains(err.Error(), "(from envar ") { // kong names the variable itself
		return ""
	}
	for _, flag := range ctx.Flags() {
		if flag.Name != name[1] {
			continue
		}
		if where := f.source(ctx, flag); where != fromFlag && where != fromDefault {
			return where
		}
	}
	return ""
}

// separate returns the errors that were joined.
func separate(err error) []error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) || err.Error() != errors.Join(joined.Unwrap()...).Error() {
		return []error{err}
	}
	var out []error
	for _, one := range joined.Unwrap() {
		out = append(out, separate(one)...)
	}
	return out
}

// helpWithDefault adds the default of a flag, and its variable, to its help.
func helpWithDefault(value *kong.Value) string {
	help := kong.DefaultHelpValueFormatter(value)
	if value.Default == "" || value.IsBool() {
		return help
	}
	return help + " Default: " + value.Default + "."
}
