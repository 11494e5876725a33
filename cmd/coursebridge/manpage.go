package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

type manCommand struct{}

func (*manCommand) Run(cli *commands, model *kong.Application) error {
	_, err := io.WriteString(cli.out.to, manPage(model, version))
	return err
}

// manPage returns the manual page coursebridge(1). It is written from the same
// descriptions as --help, so the two cannot differ.
func manPage(model *kong.Application, version string) string {
	var p roff
	p.line(`.TH COURSEBRIDGE 1 "" "coursebridge %s" "User Commands"`, version)
	p.line(".SH NAME")
	p.line(`coursebridge \- connects a company's systems to its business cabinet of a learning platform`)
	p.line(".SH SYNOPSIS")
	p.line(".B coursebridge")
	p.line(".I command")
	p.line("[flags]")
	p.line(".SH DESCRIPTION")
	p.paragraphs(description)
	p.line(".SH COMMANDS")
	p.line("Every command prints one JSON object with")
	p.line(`.BR \-\-json .`)
	p.commands(model.Node, "")
	p.line(".SH FLAGS OF EVERY COMMAND")
	p.flags(model.Flags)
	p.line(".SH EXIT STATUS")
	p.line("0 on success, 1 if the command failed, 2 if it was not understood.")
	p.line(".SH SEE ALSO")
	p.line("https://github.com/coursebridge/coursebridge")
	return p.text.String()
}

// roff collects the lines of a manual page.
type roff struct{ text strings.Builder }

func (p *roff) line(format string, args ...any) { fmt.Fprintf(&p.text, format+"\n", args...) }

// escaper makes text literal: a backslash and a minus have meanings in roff.
var escaper = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...")

// sentence adds text that may not be taken for a request.
func (p *roff) sentence(text string) {
	text = escaper.Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	p.line("%s", text)
}

// paragraphs adds text whose indented lines are examples.
func (p *roff) paragraphs(text string) {
	for _, part := range strings.Split(text, "\n\n") {
		p.line(".PP")
		example := strings.HasPrefix(part, "  ")
		if example {
			p.line(".nf")
		}
		for _, line := range strings.Split(part, "\n") {
			p.sentence(line)
		}
		if example {
			p.line(".fi")
		}
	}
}

// commands adds the commands below a node with their own flags.
func (p *roff) commands(node *kong.Node, path string) {
	for _, child := range visibleChildren(node) {
		name := strings.TrimSpace(path + " " + child.Name)
		if len(child.Children) > 0 {
			p.commands(child, name)
			continue
		}
		for _, argument := range child.Positional {
			name += " " + argument.Summary()
		}
		p.line(`.SS "%s"`, escaper.Replace(name))
		p.sentence(child.Help)
		p.flags(child.Flags)
	}
}

func (p *roff) flags(flags []*kong.Flag) {
	for _, flag := range flags {
		if flag.Hidden || flag.Name == "help" {
			continue
		}
		p.line(".TP")
		name := "--" + flag.Name
		if !flag.IsBool() {
			name += "=" + flag.FormatPlaceHolder()
		}
		p.line(`\fB%s\fR`, escaper.Replace(name))
		p.sentence(flag.Help)
		if flag.HasDefault && flag.Default != "" {
			p.sentence("Default: " + flag.Default + ".")
		}
		if len(flag.Envs) > 0 {
			p.sentence("Variable: " + flag.Envs[0] + ".")
		}
	}
}
