package cabinet_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/apptest"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// randomizeDeliveries replaces the past of every delivery of the company by a random one. None is created close
// to the edge of the last 24 hours, where the tile and the list would disagree only
// because time passes between them.
func (f fixture) randomizeDeliveries(random *rand.Rand) {
	f.Helper()
	var ids []string
	err := f.store().Engine().Read(f.Context(), func(c db.Conn) error {
		b := &db.Batch{}
		b.Query(func(r db.Rows) error {
			var id string
			err := r.Scan(&id)
			ids = append(ids, id)
			return err
		}, `SELECT CAST(d.id AS text) FROM deliveries d WHERE d.company_id = $1 ORDER BY d.seq`, f.company.CompanyID)
		return c.Send(f.Context(), b)
	})
	if err != nil || len(ids) == 0 {
		f.Fatalf("%d deliveries, %v", len(ids), err)
	}
	now := time.Now().UTC()
	err = f.store().Engine().Write(f.Context(), func(tx db.Tx) error {
		for _, id := range ids {
			created := now.Add(-time.Duration(random.Int64N(int64(23*time.Hour + 50*time.Minute))))
			if random.IntN(4) == 0 {
				created = now.Add(-24*time.Hour - 10*time.Minute - time.Duration(random.Int64N(int64(48*time.Hour))))
			}
			state := []string{"delivered", "delivered", "failed", "held", "pending", "pending"}[random.IntN(6)]
			attempts := random.IntN(3)
			if state == "delivered" || state == "failed" {
				attempts++
			}
			if _, err := tx.Exec(f.Context(), `UPDATE deliveries SET state = $3, created_at = $4, attempts = $5, round_start = 0, due_at = $6,
				finished_at = $7 WHERE company_id = $1 AND id = $2`,
				f.company.CompanyID, id, state, created, attempts, now.Add(24*time.Hour), created); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
}

// countRows walks through all pages of a list and counts its rows.
func (v *visitor) countRows(path string) (rows int64) {
	v.Helper()
	next := regexp.MustCompile(`rel="next" href="([^"]+)"`)
	for path != "" {
		r := v.get(path).wantStatus(http.StatusOK)
		rows += int64(strings.Count(r.raw, `id="d-`))
		path = ""
		if m := next.FindStringSubmatch(r.text); m != nil {
			path = m[1]
		}
	}
	return rows
}

// linkedCount returns the number on the page whose link has this query, or 0 if the
// page has no such link: a count of nothing is not linked.
func (r response) linkedCount(query string) int64 {
	r.v.Helper()
	m := regexp.MustCompile(`href="` + regexp.QuoteMeta(view.PathDeliveries+"?"+query) + `">([0-9,]+)<`).FindStringSubmatch(r.text)
	if m == nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(m[1], ",", ""), 10, 64)
	if err != nil {
		r.v.Fatal(err)
	}
	return n
}

func TestTilesChartsAndListsAgree(t *testing.T) {
	t.Parallel()
	// No dispatcher runs: it would fail the deliveries that become pending on the removed webhook.
	onEachEngineWith(t, apptest.Options{Serve: noWebhooks}, func(f fixture) {
		v := f.administrator()
		_, token := v.createToken("HR sync")
		var webhooks []string
		for n := range 3 {
			path := v.addWebhook(fmt.Sprintf("http://127.0.0.1:9/%d", n))
			v.post(path + "/disable").wantStatus(http.StatusSeeOther)
			webhooks = append(webhooks, path)
		}
		f.provision(token, 1, 40)
		v.post(webhooks[2] + "/remove").wantStatus(http.StatusSeeOther)
		seed := uint64(time.Now().UnixNano())
		f.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		for round := range 4 {
			f.randomizeDeliveries(random)
			v.checkHealth(webhooks[:2], fmt.Sprintf("round %d", round))
		}
	})
}

func (v *visitor) checkHealth(webhooks []string, round string) {
	v.Helper()
	overview := v.get(view.PathOverview).wantStatus(http.StatusOK)
	for _, state := range []string{"delivered", "retrying", "failed", "held"} {
		query := "period=24h&state=" + state
		tile := overview.linkedCount(query)
		if list := v.countRows(view.PathDeliveries + "?" + query); tile != list {
			v.Errorf("%s: the tile says %d %s, the list has %d rows", round, tile, state, list)
		}
		if state == "held" {
			continue
		}
		if chart := overview.find(`data-key="` + state + `">([0-9,]+)<`); strings.ReplaceAll(chart, ",", "") != strconv.FormatInt(tile, 10) {
			v.Errorf("%s: the chart says %s %s, the tile %d", round, chart, state, tile)
		}
		for _, webhook := range webhooks {
			query := "endpoint=" + webhook[len(view.PathWebhooks)+1:] + "&period=24h&state=" + state
			row := overview.linkedCount(query)
			if list := v.countRows(view.PathDeliveries + "?" + query); row != list {
				v.Errorf("%s: the row of %s says %d %s, the list has %d rows", round, webhook, row, state, list)
			}
		}
	}
}
