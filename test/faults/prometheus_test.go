package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// Prometheus, which scrapes a server that has worked, has an answer for every query of
// the dashboard and evaluates every alert rule without an error.
func TestDashboardAndAlertRulesInPrometheus(t *testing.T) {
	t.Parallel()
	database := postgresDatabase(t)
	server := serve(t, database)
	acme, inbox := newCompany(t, database), newReceiver(t, nil)
	acme.addWebhook(t, inbox.URL)
	acme.provision(t, server.url, "watched")
	inbox.waitFor(t, timeout, "watched", 1)
	prometheus := startPrometheus(t, server.url)
	for _, query := range dashboardQueries(t) {
		eventually(t, timeout, "the answer to "+query, func() error {
			var answer struct {
				Error string
				Data  struct{ Result []any }
			}
			if err := prometheus.get("/api/v1/query?query="+url.QueryEscape(query), &answer); err != nil {
				return err
			}
			if len(answer.Data.Result) == 0 {
				return errors.New("it has no value: " + answer.Error)
			}
			return nil
		})
	}
	eventually(t, timeout, "the evaluation of the alert rules", func() error {
		var answer struct {
			Data struct {
				Groups []struct {
					Rules []struct{ Name, Health, LastError, State string }
				}
			}
		}
		if err := prometheus.get("/api/v1/rules", &answer); err != nil {
			return err
		}
		if len(answer.Data.Groups) == 0 || len(answer.Data.Groups[0].Rules) == 0 {
			return errors.New("there are none")
		}
		for _, rule := range answer.Data.Groups[0].Rules {
			if rule.Health != "ok" || rule.State == "firing" {
				return fmt.Errorf("%s is %s: %s, %s", rule.Name, rule.State, rule.Health, rule.LastError)
			}
		}
		return nil
	})
}

// dashboardQueries returns the queries of the dashboard, after a check of what Grafana
// needs to show it: panels with ids and places of their own, and the data source that
// the dashboard lets people choose.
func dashboardQueries(t *testing.T) (queries []string) {
	t.Helper()
	type place struct{ X, Y int }
	var dashboard struct {
		Templating struct {
			List []struct{ Name, Type, Query string }
		}
		Panels []struct {
			ID         int
			Title      string
			Datasource struct{ Type, UID string }
			GridPos    struct{ X, Y, W, H int }
			Targets    []struct{ Expr, RefID string }
		}
	}
	if err := json.Unmarshal([]byte(deployed(t, "grafana-dashboard.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	if list := dashboard.Templating.List; len(list) != 1 || list[0].Type != "datasource" || list[0].Query != "prometheus" {
		t.Fatalf("the dashboard does not ask for a Prometheus: %+v", list)
	}
	source := "${" + dashboard.Templating.List[0].Name + "}"
	ids, places := map[int]bool{}, map[place]bool{}
	for _, panel := range dashboard.Panels {
		at := place{panel.GridPos.X, panel.GridPos.Y}
		if ids[panel.ID] || places[at] || panel.GridPos.X+panel.GridPos.W > 24 || panel.GridPos.H == 0 {
			t.Errorf("the panel %q has the id or the place of another, or does not fit: %+v", panel.Title, panel)
		}
		if panel.Datasource.UID != source || panel.Title == "" || len(panel.Targets) == 0 {
			t.Errorf("the panel %q lacks a title, a query or the data source %s", panel.Title, source)
		}
		ids[panel.ID], places[at] = true, true
		names := map[string]bool{}
		for _, target := range panel.Targets {
			if names[target.RefID] {
				t.Errorf("the panel %q has two queries with the name %s", panel.Title, target.RefID)
			}
			names[target.RefID] = true
			queries = append(queries, target.Expr)
		}
	}
	return queries
}

// runningPrometheus is the address of a Prometheus.
type runningPrometheus string

// startPrometheus starts Prometheus with the alert rules in deploy. It scrapes a server.
func startPrometheus(t *testing.T, server string) runningPrometheus {
	t.Helper()
	program, dir, listen := pgtest.Program(t, "prometheus"), t.TempDir(), freeAddress(t)
	rules := writeFile(t, filepath.Join(dir, "alerts.yaml"), deployed(t, "prometheus-alerts.yaml"))
	config := writeFile(t, filepath.Join(dir, "prometheus.yaml"), fmt.Sprintf(`global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [%s]
scrape_configs: [{job_name: coursebridge, static_configs: [{targets: ["%s"]}]}]
`, rules, strings.TrimPrefix(server, "http://")))
	client := &http.Client{Timeout: timeout}
	t.Cleanup(client.CloseIdleConnections)
	startProxy(t, client, "http://"+listen+"/-/ready?", exec.Command(program, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+listen, "--log.level=warn"))
	return runningPrometheus("http://" + listen)
}

// get decodes an answer of the API.
func (p runningPrometheus) get(path string, answer any) error {
	resp, err := http.Get(string(p) + path)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	return json.NewDecoder(resp.Body).Decode(answer)
}
