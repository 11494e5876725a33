package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet"
	"github.com/coursebridge/coursebridge/internal/demo"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/server"
	"github.com/coursebridge/coursebridge/internal/service"
)

const (
	demoAdmin    = "you@northwind.example"
	demoInterval = 3 * time.Second // between the steps of the simulated learners
	demoSteps    = 25              // made before the server starts, so that there is something to see
)

// DemoConfig describes the demo's company and where it is kept.
type DemoConfig struct {
	demo.Options
	// Keep uses the configured database, which must have no company, and leaves
	// everything in it. Otherwise the demo uses a temporary SQLite file.
	Keep bool
}

// NewDemoConfig returns the configuration of a demo; 0 stands for the default of a value.
func NewDemoConfig(employees, assignments int, seed uint64) DemoConfig {
	if employees == 0 {
		employees = demo.DefaultEmployees
	}
	if seed == 0 {
		seed = demo.DefaultSeed
	}
	return DemoConfig{Options: demo.Options{Employees: employees, Assignments: assignments, RandomSeed: seed}}
}

// Demo serves a company with simulated learners until ctx ends.
func Demo(ctx context.Context, c Config, sc ServeConfig, dc DemoConfig, out DemoOutput) error {
	if err := errors.Join(dc.Check(), preflight(ctx, c, sc)); err != nil {
		return err
	}
	if !dc.Keep {
		dir, err := os.MkdirTemp("", "coursebridge-demo-")
		if err != nil {
			return fmt.Errorf("make a folder for the demo: %w", err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		c.Database, c.SecretKey = "sqlite://"+filepath.Join(dir, "demo.db"), ""
		c.TransactionPooler, c.DatabaseDirect, c.DatabaseRead = false, "", ""
	}
	sc.Webhooks.AllowPrivate, sc.Webhooks.AllowHTTP = true, true
	c.Create = true
	a, err := Open(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(a.demo(ctx, sc, dc, out), a.Close())
}

func (a *App) demo(ctx context.Context, sc ServeConfig, dc DemoConfig, out DemoOutput) error {
	if err := a.refuseCompanies(ctx); err != nil {
		return err
	}
	company, err := a.CreateCompany(ctx, "Northwind Energy", demoAdmin, "Europe/Riga")
	if err != nil {
		return err
	}
	caller, err := a.caller(ctx, company.CompanyID)
	if err != nil {
		return err
	}
	w := demoWorld{World: demo.New(a.learning, a.store, caller, dc.Options), keep: dc.Keep}
	progress := out.newProgress()
	if err := w.Populate(ctx, progress.show); err != nil {
		return err
	}
	progress.end()
	if w.entry, err = a.demoSignIn(ctx); err != nil {
		return err
	}
	token, err := a.CreateToken(ctx, TokenInput{Company: company.CompanyID, Name: "Demo", Scopes: scopeNames()})
	if err != nil {
		return err
	}
	w.token = token.Token
	return a.demoReceive(ctx, caller.Company.ID, &w.inbox, func(endpoints []demo.Endpoint) error {
		if err := w.AddLastDay(ctx, endpoints); err != nil {
			return fmt.Errorf("add the deliveries of the last day: %w", err)
		}
		for range demoSteps {
			if err := w.Step(ctx); err != nil {
				return fmt.Errorf("simulate learners: %w", err)
			}
		}
		return a.demoServe(ctx, sc, out, &w)
	})
}

// refuseCompanies returns an error if the database has a company: learners must not
// be simulated, and webhooks not be sent to this machine, where real ones are.
func (a *App) refuseCompanies(ctx context.Context) error {
	page, err := a.companies.List(ctx, domain.PageRequest{Number: 1, Limit: 1})
	if err != nil {
		return err
	}
	if len(page.Items) > 0 {
		return errors.New("the database already has a company, and the demo only fills an empty one: " +
			"name another --database, or none for a temporary one (serve continues with what a demo has left)")
	}
	return nil
}

// demoWorld is the demo's company once it is filled.
type demoWorld struct {
	*demo.World
	inbox demo.Inbox
	entry demoEntry
	token string
	keep  bool
}

func (a *App) demoServe(ctx context.Context, sc ServeConfig, out DemoOutput, w *demoWorld) error {
	live, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	sc.extra = func(pages *cabinet.Cabinet) []server.Mount {
		mux := http.NewServeMux()
		mux.Handle("GET "+demoReceiverPath, receiverPage(pages, &w.inbox))
		mux.Handle("GET "+demoEntryPath+"{secret}", pages.DemoSignIn(w.entry.secret, w.entry.administrator))
		return []server.Mount{{Prefix: "/demo", Handler: mux}}
	}
	sc.Ready = func(s Serving) error {
		wg.Go(func() {
			service.Periodic{Name: "simulate the learners of the demo", Every: demoInterval, Log: a.log, Do: w.Step}.Run(live)
		})
		started := newDemoStarted(s.URL, w)
		if err := out.Started(started); err != nil || out.Open == nil {
			return err
		}
		if err := out.Open(started.SignInURL); err != nil {
			a.log.Warn("the browser could not be opened; open the link of the cabinet yourself", "error", err)
		}
		return nil
	}
	err := a.Serve(ctx, sc)
	stop()
	wg.Wait()
	return err
}

// demoEndpoint is an endpoint of the demo with the receiver that it leads to.
type demoEndpoint struct {
	name   string
	events []domain.EventKind
	answer func(n int64) int // the status with which request n is answered
}

// demoEndpoints are one that accepts everything, one that is busy every fourth time, and
// one that fails on purpose.
var demoEndpoints = []demoEndpoint{
	{"HR system", domain.EventKinds, func(int64) int { return http.StatusOK }},
	{"CRM, sometimes busy", []domain.EventKind{domain.EventAssignmentCompleted, domain.EventAssignmentFailed}, func(n int64) int {
		if n%4 == 0 {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	}},
	{"Chat, fails on purpose", []domain.EventKind{domain.EventEmployeeJoined, domain.EventAssignmentOverdue},
		func(int64) int { return http.StatusInternalServerError }},
}

// demoReceive runs fn while the demo's endpoints have receivers.
func (a *App) demoReceive(ctx context.Context, company int64, inbox *demo.Inbox, fn func([]demo.Endpoint) error) error {
	var receivers []*demo.Receiver
	var endpoints []demo.Endpoint
	defer func() {
		for _, r := range receivers {
			r.Close()
		}
	}()
	for _, endpoint := range demoEndpoints {
		receiver, err := demo.NewReceiver(ctx, endpoint.name, inbox, endpoint.answer)
		if err != nil {
			return err
		}
		receivers = append(receivers, receiver)
		var events []string
		for _, kind := range endpoint.events {
			events = append(events, string(kind))
		}
		added, err := a.AddWebhook(ctx, WebhookInput{Company: company, URL: receiver.URL, Description: endpoint.name, Events: events})
		if err != nil {
			return err
		}
		receiver.SetSecret(added.Secret)
		endpoints = append(endpoints, demo.Endpoint{EndpointID: added.ID, URL: receiver.URL, Events: endpoint.events, Answer: endpoint.answer})
	}
	return fn(endpoints)
}

func scopeNames() []string {
	var out []string
	for _, s := range domain.Scopes {
		out = append(out, string(s))
	}
	return out
}
