package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/demo"
	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	demoAdmin   = "you@northwind.example"
	demoMoments = 3 * time.Second
)

// DemoStarted says how to look around in the demo.
type DemoStarted struct {
	SignInURL string `json:"signInUrl"`
	APIURL    string `json:"apiUrl"`
	DocsURL   string `json:"docsUrl"`
	Token     string `json:"token"`
	Curl      string `json:"curl"`
}

func (d DemoStarted) String() string {
	return fmt.Sprintf(demoGreeting, d.SignInURL, d.APIURL, d.DocsURL, d.Token, d.Curl)
}

// DemoOutput is where the demo says how far it is, and who is told once it runs.
type DemoOutput struct {
	Progress io.Writer
	Started  func(DemoStarted) error
}

// Demo serves a throw-away company until ctx ends.
func Demo(ctx context.Context, c Config, sc ServeConfig, out DemoOutput) error {
	if err := preflight(ctx, sc); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "coursebridge-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	c.Database = "sqlite://" + filepath.Join(dir, "demo.db")
	sc.Webhooks.AllowPrivate, sc.Webhooks.AllowHTTP = true, true
	a, err := Open(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(a.demo(ctx, sc, out), a.Close())
}

func (a *App) demo(ctx context.Context, sc ServeConfig, out DemoOutput) error {
	company, err := a.CreateCompany(ctx, "Northwind Energy", demoAdmin, "Europe/Riga")
	if err != nil {
		return err
	}
	good, err := demo.NewReceiver(ctx, 0)
	if err != nil {
		return err
	}
	defer good.Close()
	moody, err := demo.NewReceiver(ctx, 4)
	if err != nil {
		return err
	}
	defer moody.Close()
	if err := a.demoWebhooks(ctx, company.CompanyID, good, moody); err != nil {
		return err
	}
	caller, err := a.caller(ctx, company.CompanyID)
	if err != nil {
		return err
	}
	world := demo.New(a.learning, caller)
	err = world.Seed(ctx, func(done, total int, what string) {
		fmt.Fprintf(out.Progress, "\rPreparing the company: %3d%% (%s)%-12s", done*100/total, what, "")
	})
	fmt.Fprintln(out.Progress)
	if err != nil {
		return err
	}
	token, err := a.CreateToken(ctx, company.CompanyID, "Demo", scopeNames(), 0, nil)
	if err != nil {
		return err
	}
	return a.demoServe(ctx, sc, world, out, token.Token, company)
}

func (a *App) demoServe(ctx context.Context, sc ServeConfig, world *demo.World, out DemoOutput, token string, company CompanyCreated) error {
	live, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	sc.Ready = func(s Serving) error {
		base := s.URL
		_, link, err := a.administrators.LinkFor(ctx, operator(), domain.LinkRequest{Email: company.AdminEmail})
		if err != nil {
			return err
		}
		wg.Go(func() {
			if err := world.Live(live, demoMoments); err != nil {
				a.log.Warn("the demo's learners stopped", "error", err)
			}
		})
		return out.Started(DemoStarted{
			SignInURL: base + "/cabinet/enter/" + link, APIURL: base + "/api/v1", DocsURL: base + "/docs", Token: token,
			Curl: fmt.Sprintf("curl -s '%s/api/v1/courses' -H 'Authorization: Bearer %s'", base, token),
		})
	}
	err := a.Serve(ctx, sc)
	stop()
	wg.Wait()
	return err
}

const demoGreeting = `
coursebridge is running with a living company.

  Cabinet     %s
              (signs you in once and asks for a password)
  API         %s
  API docs    %s
  Token       %s

Try it:

  %s

Everything is gone when you press Ctrl-C.`

func (a *App) demoWebhooks(ctx context.Context, company int64, good, moody *demo.Receiver) error {
	var all []string
	for _, k := range domain.EventKinds {
		all = append(all, string(k))
	}
	if _, err := a.AddWebhook(ctx, company, good.URL, "HR system", all); err != nil {
		return err
	}
	_, err := a.AddWebhook(ctx, company, moody.URL, "CRM, sometimes busy", []string{string(domain.EventAssignmentCompleted), string(domain.EventAssignmentFailed)})
	return err
}

func scopeNames() []string {
	var out []string
	for _, s := range domain.Scopes {
		out = append(out, string(s))
	}
	return out
}
