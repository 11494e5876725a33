package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// completeCommand is the command that the completion scripts call. Nobody types it, so
// help and the man page leave it out.
const completeCommand = "__complete"

// completionScripts ask the program itself what may follow, so they never go out of date.
var completionScripts = map[string]string{
	"bash": `# bash completion for coursebridge: source it, or install it as /usr/share/bash-completion/completions/coursebridge
_coursebridge() {
  local IFS=$'\n'
  COMPREPLY=($(coursebridge __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
  [ ${#COMPREPLY[@]} -gt 0 ] || compopt -o default
}
complete -F _coursebridge coursebridge
`,
	"zsh": `#compdef coursebridge
# zsh completion for coursebridge: install it as _coursebridge in a directory of $fpath
_coursebridge() {
  local -a found
  local line
  for line in "${(@f)$(coursebridge __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  if (( $#found )); then _describe coursebridge found; else _files; fi
}
if [ "$funcstack[1]" = _coursebridge ]; then _coursebridge "$@"; else compdef _coursebridge coursebridge; fi
`,
	"fish": `# fish completion for coursebridge: install it as ~/.config/fish/completions/coursebridge.fish
function __coursebridge_complete
    set -l words (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token)
    set -l found (coursebridge __complete $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline --current-token)
    end
end
complete --command coursebridge --no-files --arguments '(__coursebridge_complete)'
`,
}

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (c *completionCommand) Run(cli *commands) error {
	_, err := io.WriteString(cli.out.to, completionScripts[c.Shell])
	return err
}

// suggestion is a word that may follow, with what it means.
type suggestion struct{ word, help string }

// writeSuggestions prints what may follow the words of a command line, one per line. The
// last word is the one that is being typed.
func writeSuggestions(w io.Writer, model *kong.Application, words []string) error {
	for _, s := range suggest(model, words) {
		if _, err := fmt.Fprintf(w, "%s\t%s\n", s.word, s.help); err != nil {
			return err
		}
	}
	return nil
}

// suggest returns the commands, flags or values that may stand in the last place.
func suggest(model *kong.Application, words []string) (out []suggestion) {
	if len(words) == 0 {
		words = []string{""}
	}
	typed, node := words[len(words)-1], model.Node
	var pending *kong.Flag // a flag whose value comes next
	for _, word := range words[:len(words)-1] {
		switch flag, hasValue := findFlag(node, word); {
		case pending != nil:
			pending = nil
		case flag != nil && !hasValue && !flag.IsBool():
			pending = flag
		case !strings.HasPrefix(word, "-"):
			node = findChild(node, word)
		}
	}
	switch {
	case pending != nil:
		out = values(pending.Value)
	case strings.HasPrefix(typed, "-"):
		for _, group := range node.AllFlags(true) {
			for _, flag := range group {
				out = append(out, suggestion{"--" + flag.Name, flag.Help})
			}
		}
	default:
		for _, child := range visibleChildren(node) {
			out = append(out, suggestion{child.Name, child.Help})
		}
		for _, argument := range node.Positional {
			out = append(out, values(argument)...)
		}
	}
	return startingWith(typed, out)
}

// values returns the values of a flag or argument that has a fixed set of them.
func values(v *kong.Value) (out []suggestion) {
	if v.Enum == "" {
		return nil
	}
	for _, word := range strings.Split(v.Enum, ",") {
		out = append(out, suggestion{word: word})
	}
	return out
}

func startingWith(prefix string, all []suggestion) (out []suggestion) {
	for _, s := range all {
		if strings.HasPrefix(s.word, prefix) {
			out = append(out, s)
		}
	}
	return out
}

// findFlag returns the flag that a word names, and whether the word has its value too.
func findFlag(node *kong.Node, word string) (flag *kong.Flag, hasValue bool) {
	name, isFlag := strings.CutPrefix(word, "--")
	if !isFlag {
		return nil, false
	}
	name, _, hasValue = strings.Cut(name, "=")
	for _, group := range node.AllFlags(false) {
		for _, f := range group {
			if f.Name == name {
				return f, hasValue
			}
		}
	}
	return nil, false
}

// findChild returns the command of this name below a node, or the node itself.
func findChild(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name {
			return child
		}
	}
	return node
}

func visibleChildren(node *kong.Node) (out []*kong.Node) {
	for _, child := range node.Children {
		if !child.Hidden {
			out = append(out, child)
		}
	}
	return out
}
