package app

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/secret"
	"github.com/coursebridge/coursebridge/internal/store/migrations"
)

// Status is one screen about an installation.
type Status struct {
	Engine            string `json:"engine"`
	SchemaVersion     int64  `json:"schemaVersion"`
	DatabaseBytes     int64  `json:"databaseBytes"`
	PublicURL         string `json:"publicUrl"`
	Companies         int64  `json:"companies"`
	Suspended         int64  `json:"suspendedCompanies"`
	Webhooks          int64  `json:"webhooks"`
	DisabledWebhooks  int64  `json:"disabledWebhooks"`
	Pending           int64  `json:"pendingDeliveries"`
	Due               int64  `json:"dueDeliveries"`
	OldestDueSeconds  int64  `json:"oldestDueSeconds"`
	Held              int64  `json:"heldDeliveries"`
	FailedHour        int64  `json:"failedDeliveriesLastHour"`
	SendingServers    int64  `json:"serversThatSend"`
	Restored          bool   `json:"restored"`
	RotatingSecretKey bool   `json:"rotatingSecretKey"`
}

func (s Status) String() string {
	lines := []string{
		fmt.Sprintf("Database    %s, schema version %d, %.1f MiB", s.Engine, s.SchemaVersion, float64(s.DatabaseBytes)/mebibyte),
		fmt.Sprintf("Address     %s", s.PublicURL),
		fmt.Sprintf("Companies   %d, %d of them suspended", s.Companies, s.Suspended),
		fmt.Sprintf("Webhooks    %d, %d of them disabled; %d servers send now", s.Webhooks, s.DisabledWebhooks, s.SendingServers),
		fmt.Sprintf("Deliveries  %d pending, %d of them due, the oldest for %s; %d held; %d failed in the last hour", s.Pending, s.Due,
			time.Duration(s.OldestDueSeconds)*time.Second, s.Held, s.FailedHour),
	}
	if s.Restored {
		lines = append(lines, "Restored from a backup: no webhooks are sent until you run coursebridge webhook resume.")
	}
	if s.RotatingSecretKey {
		lines = append(lines, "The secret key is being rotated: coursebridge secret-key rotate --finish ends it.")
	}
	return strings.Join(lines, "\n")
}

// Status reports what the installation holds and does now.
func (a *App) Status(ctx context.Context) (Status, error) {
	counts, err := a.store.InstallationCounts(ctx)
	if err != nil {
		return Status{}, err
	}
	out := Status{
		Engine: a.store.Engine().Name(), SchemaVersion: migrations.Version, Companies: counts.Companies, Suspended: counts.Suspended,
		Webhooks: counts.Endpoints, DisabledWebhooks: counts.DisabledEndpoints, Pending: counts.Pending, Due: counts.Due,
		OldestDueSeconds: a.secondsSince(counts.OldestDue), Held: counts.Held, FailedHour: counts.FailedHour,
		SendingServers: counts.SendingServers,
	}
	if out.DatabaseBytes, err = a.store.Engine().Size(ctx); err != nil {
		return out, err
	}
	if out.PublicURL, err = a.publicURL(ctx); err != nil {
		return out, err
	}
	if out.RotatingSecretKey, err = secret.Rotating(ctx, a.store); err != nil {
		return out, err
	}
	restored, err := a.store.Setting(ctx, restoredSetting)
	out.Restored = len(restored) > 0 && string(restored) != webhooksReleased
	return out, err
}

func (a *App) secondsSince(at *time.Time) int64 {
	if at == nil {
		return 0
	}
	return int64(a.store.Now().Sub(*at).Seconds())
}

// StuckList lists webhooks whose deliveries do not move.
type StuckList struct {
	Webhooks []StuckLine `json:"webhooks"`
}

// StuckLine describes one of them.
type StuckLine struct {
	CompanyID        int64  `json:"companyId"`
	Company          string `json:"company"`
	WebhookID        int64  `json:"webhookId"`
	URL              string `json:"url"`
	State            string `json:"state"`
	Due              int64  `json:"due"`
	OldestDueSeconds int64  `json:"oldestDueSeconds"`
	Held             int64  `json:"held"`
}

// Table implements Table.
func (l StuckList) Table() (header []string, rows [][]string) {
	for _, s := range l.Webhooks {
		rows = append(rows, []string{
			strconv.FormatInt(s.CompanyID, 10), s.Company, strconv.FormatInt(s.WebhookID, 10), s.URL, s.State, strconv.FormatInt(s.Due, 10),
			(time.Duration(s.OldestDueSeconds) * time.Second).String(), strconv.FormatInt(s.Held, 10),
		})
	}
	return []string{"COMPANY", "NAME", "WEBHOOK", "URL", "STATE", "DUE", "OLDEST", "HELD"}, rows
}

// maxLines bounds what the commands over all companies print.
const maxLines = 100

// StuckDeliveries lists webhooks of all companies with deliveries that were due for
// longer than olderThan, or that are held.
func (a *App) StuckDeliveries(ctx context.Context, olderThan time.Duration) (StuckList, error) {
	found, err := a.store.StuckEndpoints(ctx, a.store.Now().Add(-olderThan), maxLines)
	out := StuckList{Webhooks: []StuckLine{}}
	for _, e := range found {
		line := StuckLine{
			CompanyID: e.CompanyID, Company: e.CompanyName, WebhookID: e.EndpointID, URL: e.URL, State: "enabled", Due: e.Due,
			OldestDueSeconds: a.secondsSince(e.OldestDue), Held: e.Held,
		}
		if e.Disabled {
			line.State = "disabled"
		}
		out.Webhooks = append(out.Webhooks, line)
	}
	return out, err
}

// UsageList lists companies by what they take of the service.
type UsageList struct {
	Companies []UsageLine `json:"companies"`
}

// UsageLine describes one company.
type UsageLine struct {
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	Employees   int64  `json:"employees"`
	Assignments int64  `json:"assignments"`
	Calls       int64  `json:"calls"`
	SlowestCall int64  `json:"slowestCallMs"`
	Events      int64  `json:"events"`
	Attempts    int64  `json:"webhookAttempts"`
	SlowestMs   int64  `json:"slowestAttemptMs"`
	LastCall    string `json:"lastCall,omitempty"`
}

// Table implements Table.
func (l UsageList) Table() (header []string, rows [][]string) {
	for _, u := range l.Companies {
		row := []string{strconv.FormatInt(u.ID, 10), u.Name}
		for _, n := range []int64{u.Employees, u.Assignments, u.Calls, u.SlowestCall, u.Events, u.Attempts, u.SlowestMs} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		rows = append(rows, append(row, u.LastCall))
	}
	return []string{"ID", "NAME", "EMPLOYEES", "ASSIGNMENTS", "CALLS", "SLOWEST CALL MS", "EVENTS", "ATTEMPTS", "SLOWEST ATTEMPT MS", "LAST CALL"}, rows
}

// TopCompanies lists the companies with the most events of the period.
func (a *App) TopCompanies(ctx context.Context, period time.Duration) (UsageList, error) {
	found, err := a.store.CompanyUsage(ctx, a.store.Now().Add(-period), maxLines)
	out := UsageList{Companies: []UsageLine{}}
	for _, u := range found {
		line := UsageLine{
			ID: u.CompanyID, Name: u.Name, Employees: u.Employees, Assignments: u.Assignments, Calls: u.Calls, SlowestCall: u.SlowestCall,
			Events: u.Events, Attempts: u.Attempts,
			SlowestMs: u.SlowestMs,
		}
		if u.LastCall != nil {
			line.LastCall = domain.FormatInstant(*u.LastCall)
		}
		out.Companies = append(out.Companies, line)
	}
	return out, err
}
