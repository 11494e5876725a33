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
	demoAdmin    = "you@northwind.example"
	demoInterval = 3 * time.Second // between the steps of the simulated learners
)

// DemoStarted holds what is needed to try the demo.
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

// DemoOutput is where the demo writes its progress, and what it calls once it runs.
type DemoOutput struct {
	Progress io.Writer
	Terminal bool // whether Progress is a terminal
	Started  func(DemoStarted) error
}

// showProgress returns a function that shows how far the preparation is: in place
// on a terminal, and as one line elsewhere.
func (o DemoOutput) showProgress() func(done, total int, what string) {
	if !o.Terminal {
		fmt.Fprintln(o.Progress, "Preparing the company.")
		return func(int, int, string) {}
	}
	return func(done, total int, what string) {
		fmt.Fprintf(o.Progress, "\rPreparing the company: %3d%% (%s)%-12s", done*100/total, what, "")
		if done == total {
			fmt.Fprintln(o.Progress)
		}
	}
}

// Demo serves a throw-away company until ctx ends.
func Demo(ctx context.Context, c Config, sc ServeConfig, out DemoOutput) error {
	if err := preflight(ctx, c, sc); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "coursebridge-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	c.Database = "sqlite://" + filepath.Join(dir, "demo.db")
	sc.Webhooks.AllowPrivate, sc.Webhooks.AllowHTTP = true, true
	c.Create = true
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
	reliable, err := demo.NewReceiver(ctx, 0)
	if err != nil {
		return err
	}
	defer reliable.Close()
	busy, err := demo.NewReceiver(ctx, 4)
	if err != nil {
		return err
	}
	defer busy.Close()
	if err := a.demoWebhooks(ctx, company.CompanyID, reliable, busy); err != nil {
		return err
	}
	caller, err := a.caller(ctx, company.CompanyID)
	if err != nil {
		return err
	}
	world := demo.New(a.learning, a.store, caller)
	if err := world.Seed(ctx, out.showProgress()); err != nil {
		return err
	}
	token, err := a.CreateToken(ctx, TokenInput{Company: company.CompanyID, Name: "Demo", Scopes: scopeNames()})
	if err != nil {
		return err
	}
	return a.demoServe(ctx, sc, out, demoWorld{world, token.Token, company})
}

// demoWorld is the demo's company once it is filled.
type demoWorld struct {
	*demo.World
	token   string
	company CompanyCreated
}

func (a *App) demoServe(ctx context.Context, sc ServeConfig, out DemoOutput, w demoWorld) error {
	live, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	sc.Ready = func(s Serving) error {
		base := s.URL
		_, link, err := a.administrators.LinkFor(ctx, operator(), domain.LinkRequest{Email: w.company.AdminEmail})
		if err != nil {
			return err
		}
		wg.Go(func() {
			if err := w.Simulate(live, demoInterval); err != nil {
				a.log.Warn("the simulated learners of the demo stopped", "error", err)
			}
		})
		return out.Started(DemoStarted{
			SignInURL: base + "/cabinet/enter/" + link, APIURL: base + "/api/v1", DocsURL: base + "/docs", Token: w.token,
			Curl: fmt.Sprintf("curl -s '%s/api/v1/courses' -H 'Authorization: Bearer %s'", base, w.token),
		})
	}
	err := a.Serve(ctx, sc)
	stop()
	wg.Wait()
	return err
}

const demoGreeting = `
coursebridge is running with a demo company whose learners are active.

  Cabinet     %s
              (signs you in once and asks for a password)
  API         %s
  API docs    %s
  Token       %s

Try it:

  %s

Press Ctrl-C to stop. Everything is deleted then.`

func (a *App) demoWebhooks(ctx context.Context, company int64, reliable, busy *demo.Receiver) error {
	var all []string
	for _, k := range domain.EventKinds {
		all = append(all, string(k))
	}
	if _, err := a.AddWebhook(ctx, WebhookInput{Company: company, URL: reliable.URL, Description: "HR system", Events: all}); err != nil {
		return err
	}
	_, err := a.AddWebhook(ctx, WebhookInput{
		Company: company, URL: busy.URL, Description: "CRM, sometimes busy",
		Events: []string{string(domain.EventAssignmentCompleted), string(domain.EventAssignmentFailed)},
	})
	return err
}

func scopeNames() []string {
	var out []string
	for _, s := range domain.Scopes {
		out = append(out, string(s))
	}
	return out
}
