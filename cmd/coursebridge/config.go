package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/coursebridge/coursebridge/internal/app"
)

type configCommand struct {
	Check configCheckCommand `cmd:"" help:"Check the settings of serve without starting it, and print each with the place it comes from."`
}

type configCheckCommand struct{ ServeFlags }

// checkedConfig is the outcome of a check of all settings.
type checkedConfig struct {
	Valid    bool            `json:"valid"`
	Problems []configProblem `json:"problems"`
	Settings []configSetting `json:"settings"`
}

// configProblem is a setting that serve would refuse.
type configProblem struct {
	Where   string `json:"where"`
	Message string `json:"message"`
}

// configSetting is the value of a setting. Secrets are masked.
type configSetting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// Table implements app.Table.
func (c checkedConfig) Table() (header []string, rows [][]string) {
	for _, s := range c.Settings {
		rows = append(rows, []string{s.Name, s.Value, s.Source})
	}
	return []string{"SETTING", "VALUE", "FROM"}, rows
}

func (c *configCheckCommand) Run(ctx *kong.Context, cli *commands, files *fileResolver) error {
	out := checkedConfig{Problems: []configProblem{}, Settings: []configSetting{}}
	serve, err := c.ServeFlags.config()
	config := cli.config()
	config.DatabaseWait, config.DatabaseConnections = c.DatabaseWait, c.DatabaseConnections
	if err = errors.Join(err, app.CheckSettings(config, serve)); err != nil {
		for _, one := range splitJoined(err) {
			out.Problems = append(out.Problems, configProblem{files.sourceInError(ctx, one), app.OneLine(one)})
		}
	}
	for _, flag := range ctx.Flags() {
		if source := files.source(ctx, flag); len(flag.Envs) > 0 && source != fromDefault {
			out.Settings = append(out.Settings, configSetting{flag.Name, shown(flag, ctx), source})
		}
	}
	out.Valid = len(out.Problems) == 0
	return c.print(cli, out)
}

// print prints the outcome. Problems are printed one per line, before the error that
// counts them.
func (*configCheckCommand) print(cli *commands, out checkedConfig) error {
	if cli.out.json || out.Valid {
		if err := cli.out.print(out); err != nil {
			return err
		}
	}
	if out.Valid {
		if !cli.out.json {
			_, err := fmt.Fprintln(cli.out.to, "The settings are valid; all others have their defaults (coursebridge serve --help).")
			return err
		}
		return nil
	}
	for _, p := range out.Problems {
		line := p.Message
		if p.Where != "" {
			line = p.Where + ": " + line
		}
		_, _ = fmt.Fprintln(cli.log, line)
	}
	if len(out.Problems) == 1 {
		return errors.New("1 problem in the settings; serve would refuse to start")
	}
	return fmt.Errorf("%d problems in the settings; serve would refuse to start", len(out.Problems))
}

// shown returns the value of a flag as it may be printed: no key, no password.
func shown(flag *kong.Flag, ctx *kong.Context) string {
	text := fmt.Sprint(ctx.FlagValue(flag))
	if list, ok := ctx.FlagValue(flag).([]string); ok {
		text = strings.Join(list, ", ")
	}
	if strings.Contains(flag.Name, "secret-key") {
		return "(hidden)"
	}
	if strings.Contains(text, "://") {
		return app.Redact(text)
	}
	return text
}
