package main

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
)

type webhookCommand struct {
	Add     webhookAddCommand     `cmd:"" help:"Add a webhook. Its secret is printed."`
	List    webhookListCommand    `cmd:"" help:"List the webhooks."`
	Test    webhookTestCommand    `cmd:"" help:"Send a test event and print the response."`
	Rotate  webhookRotateCommand  `cmd:"" help:"Replace the secret. For 24 hours requests are signed with the old one too."`
	Enable  webhookEnableCommand  `cmd:"" help:"Send a test event and, if it is accepted, enable the webhook."`
	Disable webhookDisableCommand `cmd:"" help:"Disable a webhook. Its events are held."`
	Resume  webhookResumeCommand  `cmd:"" help:"Allow webhooks to be sent from a restored database. Restart the servers afterwards."`
	Remove  webhookRemoveCommand  `cmd:"" help:"Remove a webhook. Its pending deliveries fail; its log stays until it expires."`
}

// WebhookFlags select the webhook targets that may be called.
type WebhookFlags struct {
	WebhookAllowPrivate bool `env:"COURSEBRIDGE_WEBHOOK_ALLOW_PRIVATE" help:"Allow webhook targets on loopback and private addresses."`
	WebhookAllowHTTP    bool `env:"COURSEBRIDGE_WEBHOOK_ALLOW_HTTP" name:"webhook-allow-http" help:"Allow webhook targets with plain http."`
}

func (f WebhookFlags) config() app.WebhookConfig {
	return app.WebhookConfig{AllowPrivate: f.WebhookAllowPrivate, AllowHTTP: f.WebhookAllowHTTP}
}

type webhookAddCommand struct {
	Company     int64    `required:"" placeholder:"ID" help:"The company's id."`
	URL         string   `required:"" help:"Where events are sent."`
	Event       []string `required:"" placeholder:"E" help:"An event kind such as assignment.completed; give it once per kind."`
	Description string   `help:"A description that the cabinet shows."`
	StrictOrder bool     `help:"Send one event at a time, each only after the one before it was delivered or has failed for good."`
	WebhookFlags
}

func (c *webhookAddCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.WebhookSecret, error) {
		a.WarnOfTarget(ctx, c.config(), c.URL)
		return a.AddWebhook(ctx, app.WebhookInput{
			Company: c.Company, URL: c.URL, Description: c.Description, Events: c.Event, StrictOrder: c.StrictOrder,
		})
	})
}

// webhookID are the flags that identify one webhook.
type webhookID struct {
	Company int64 `required:"" placeholder:"ID" help:"The company's id."`
	ID      int64 `required:"" help:"The webhook's id."`
}

type webhookListCommand struct {
	Company int64 `required:"" placeholder:"ID" help:"The company's id."`
}

func (c *webhookListCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.WebhookList, error) { return a.ListWebhooks(ctx, c.Company) })
}

type webhookTestCommand struct {
	webhookID
	WebhookFlags
	Event string `default:"assignment.completed" help:"The kind of event to send."`
}

func (c *webhookTestCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.WebhookTested, error) {
		return a.TestWebhook(ctx, c.config(), c.Company, c.ID, c.Event)
	})
}

type webhookRotateCommand struct{ webhookID }

func (c *webhookRotateCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.WebhookSecret, error) { return a.RotateWebhook(ctx, c.Company, c.ID) })
}

type webhookEnableCommand struct {
	webhookID
	WebhookFlags
	Force bool `help:"Enable the webhook without sending a test event."`
}

func (c *webhookEnableCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.WebhookState, error) {
		return a.EnableWebhook(ctx, c.config(), c.Company, c.ID, c.Force)
	})
}

type webhookDisableCommand struct{ webhookID }

func (c *webhookDisableCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.WebhookState, error) { return a.DisableWebhook(ctx, c.Company, c.ID) })
}

type webhookResumeCommand struct{}

func (*webhookResumeCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.WebhooksResumed, error) { return a.ResumeWebhooks(ctx) })
}

type webhookRemoveCommand struct{ webhookID }

func (c *webhookRemoveCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.WebhookState, error) { return a.RemoveWebhook(ctx, c.Company, c.ID) })
}

type deliveryCommand struct {
	Stuck     deliveryStuckCommand     `cmd:"" help:"List the webhooks of all companies that have overdue or held deliveries."`
	List      deliveryListCommand      `cmd:"" help:"List deliveries, newest first."`
	Show      deliveryShowCommand      `cmd:"" help:"Show a delivery with every attempt."`
	Redeliver deliveryRedeliverCommand `cmd:"" help:"Send a delivery again, or all failed and held ones of a period."`
}

type deliveryListCommand struct {
	Company int64  `required:"" placeholder:"ID" help:"The company's id."`
	Webhook int64  `placeholder:"ID" help:"List only this webhook's deliveries."`
	State   string `enum:",pending,delivered,failed,held" default:"" help:"pending, delivered, failed or held."`
	Event   string `help:"List only this event kind."`
	Limit   int    `default:"50" help:"How many deliveries to list."`
	After   string `help:"The cursor that the previous list printed."`
}

func (c *deliveryListCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.DeliveryList, error) {
		return a.ListDeliveries(ctx, c.Company, app.DeliveryQuery{Webhook: c.Webhook, State: c.State, Event: c.Event, Limit: c.Limit, After: c.After})
	})
}

type deliveryShowCommand struct {
	Company int64  `required:"" placeholder:"ID" help:"The company's id."`
	ID      string `required:"" help:"The delivery's id."`
}

func (c *deliveryShowCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.DeliveryShown, error) { return a.ShowDelivery(ctx, c.Company, c.ID) })
}

type deliveryRedeliverCommand struct {
	Company int64         `required:"" placeholder:"ID" help:"The company's id."`
	ID      string        `xor:"what" help:"The id of one delivery."`
	Since   time.Duration `xor:"what" placeholder:"24h" help:"Send all failed and held deliveries of this period again, such as 24h."`
	Webhook int64         `placeholder:"ID" help:"With --since: only deliveries of this webhook."`
	DryRun  bool          `help:"With --since: only count the deliveries."`
}

func (c *deliveryRedeliverCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.Redelivered, error) {
		return a.Redeliver(ctx, c.Company, app.RedeliverQuery{ID: c.ID, Since: c.Since, Webhook: c.Webhook, DryRun: c.DryRun})
	})
}
