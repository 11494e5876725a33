package main

import (
	"context"
	"errors"
	"os"

	"github.com/alecthomas/kong"

	"github.com/coursebridge/coursebridge/internal/app"
)

type doctorCommand struct{ ServeFlags }

func (c *doctorCommand) Run(ctx context.Context, parsed *kong.Context, cli *commands, files *fileResolver) error {
	serve, err := c.ServeFlags.config()
	if err != nil {
		return err
	}
	config := cli.config()
	config.DatabaseConnections = c.DatabaseConnections
	found := app.Doctor(ctx, app.DoctorInput{Config: config, Serve: serve, SecretFiles: files.secretFiles(parsed)})
	if err := cli.out.print(found); err != nil {
		return err
	}
	if !found.Healthy {
		return errors.New("doctor found failures; see above what to do")
	}
	return nil
}

// secretFiles returns the files that secrets were read from.
func (f *fileResolver) secretFiles(ctx *kong.Context) []string {
	var out []string
	for _, flag := range ctx.Flags() {
		if flag.Name != "secret-key" && flag.Name != "database" && flag.Name != "database-direct" && flag.Name != "database-read" {
			continue
		}
		if path, set := os.LookupEnv(flag.Envs[0] + fileSuffix); set {
			out = append(out, path)
		}
		_, inFile := f.config.values[flag.Name]
		if isSecret := flag.Name == "secret-key" || shown(flag, ctx) != ctx.FlagValue(flag); inFile && isSecret {
			out = append(out, f.path)
		}
	}
	return out
}
