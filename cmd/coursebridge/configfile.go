package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// configFile is what a configuration file says, by setting. The items of a list are
// joined by commas, as kong expects them.
type configFile struct {
	values map[string]string // nil until the file was read
	lines  map[string]int
}

func newConfigFile() configFile { return configFile{map[string]string{}, map[string]int{}} }

// parseConfig parses a configuration file: lines of the form "name: value" or
// "name = value". It is the part of YAML that settings need: comments, quotes and lists,
// either [a, b] or one "- a" per line.
func parseConfig(in io.Reader, known map[string]string) (configFile, error) {
	p, problems := configParser{file: newConfigFile(), known: known}, []error(nil)
	lines := bufio.NewScanner(in)
	for p.line = 1; lines.Scan(); p.line++ {
		if err := p.parseLine(strings.TrimSpace(lines.Text())); err != nil {
			problems = append(problems, err)
		}
	}
	return p.file, errors.Join(append(problems, lines.Err())...)
}

// configParser parses a configuration file line by line.
type configParser struct {
	file  configFile
	known map[string]string // every setting
	line  int
	// setting is the latest one that has a line, which lines "- item" belong to.
	setting struct {
		name         string // empty before the first
		hasValue     bool   // on its own line, so no item may follow
		ignoresItems bool   // because it was refused
	}
}

func (p *configParser) parseLine(line string) error {
	if line == "" || line[0] == '#' || line == "---" {
		return nil
	}
	latest := &p.setting
	if item, isItem := strings.CutPrefix(line, "- "); isItem && (latest.name != "" || latest.ignoresItems) {
		return p.addItem(item)
	}
	latest.name, latest.hasValue, latest.ignoresItems = "", false, false
	err := p.addSetting(line)
	latest.ignoresItems = err != nil
	return err
}

// addSetting adds the setting of a line "name: value".
func (p *configParser) addSetting(line string) error {
	at := strings.IndexAny(line, ":=")
	if at < 0 {
		return fmt.Errorf("line %d must have the form name: value", p.line)
	}
	name, value := strings.TrimSpace(line[:at]), withoutComment(line[at+1:])
	if _, isSetting := p.known[name]; !isSetting {
		return fmt.Errorf("line %d: %q is not a setting%s", p.line, name, didYouMean(name, slices.Sorted(maps.Keys(p.known))))
	}
	if _, twice := p.file.values[name]; twice {
		return fmt.Errorf("line %d: %s is set twice, first in line %d", p.line, name, p.file.lines[name])
	}
	p.setting.name, p.setting.hasValue = name, value != ""
	p.file.values[name], p.file.lines[name] = configValue(value), p.line
	return nil
}

// addItem adds an item of the latest setting's list.
func (p *configParser) addItem(text string) error {
	latest := &p.setting
	switch {
	case latest.ignoresItems:
		return nil
	case latest.hasValue:
		latest.ignoresItems = true
		return fmt.Errorf("line %d: %s has a value already, in line %d; give it either one value or a list",
			p.line, latest.name, p.file.lines[latest.name])
	}
	item := kong.JoinEscaped([]string{unquote(withoutComment(text))}, ',')
	if earlier := p.file.values[latest.name]; earlier != "" {
		item = earlier + "," + item
	}
	p.file.values[latest.name] = item
	return nil
}

// configValue returns the value of a setting that stands on its own line, as kong
// expects it.
func configValue(text string) string {
	if !strings.HasPrefix(text, "[") || !strings.HasSuffix(text, "]") {
		return unquote(text)
	}
	var items []string
	for rest := text[1 : len(text)-1]; ; {
		end := indexUnquoted(rest, func(i int) bool { return rest[i] == ',' })
		items = append(items, unquote(strings.TrimSpace(rest[:end])))
		if end == len(rest) {
			return kong.JoinEscaped(items, ',')
		}
		rest = rest[end+1:]
	}
}

// withoutComment returns a value without the comment after it and the white space
// around it. A comment begins with a # at the start or after white space.
func withoutComment(value string) string {
	end := indexUnquoted(value, func(i int) bool {
		return value[i] == '#' && (i == 0 || value[i-1] == ' ' || value[i-1] == '\t')
	})
	return strings.TrimSpace(value[:end])
}

// indexUnquoted returns the first index outside quotes for which isEnd holds, or the
// length of the text. Quotes begin where an item does; elsewhere they are part of a text.
func indexUnquoted(text string, isEnd func(i int) bool) int {
	startsItem := true
	for i := 0; i < len(text); i++ {
		c := text[i]
		if (c == '"' || c == '\'') && startsItem {
			i += strings.IndexByte(text[i+1:], c) + 1 // 0 if the quote is not closed
		} else if isEnd(i) {
			return i
		}
		startsItem = c == '[' || c == ',' || startsItem && (c == ' ' || c == '\t')
	}
	return len(text)
}

// unquote returns what is between the quotes that a text begins with, if they are closed.
func unquote(text string) string {
	for _, quote := range []string{`"`, "'"} {
		if inner, quoted := strings.CutPrefix(text, quote); quoted {
			if inner, _, isClosed := strings.Cut(inner, quote); isClosed {
				return inner
			}
		}
	}
	return text
}
