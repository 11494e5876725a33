package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// Two servers read lists and reports from a standby whose replay is paused again and
// again, and which is stopped in the end. A client that writes at one server finds its
// change at the other in the next request; walks over pages and the watermark of sync
// lose nothing; no request fails.
func TestReadReplica(t *testing.T) {
	t.Parallel()
	repeatUnderTorture(t, readFromReplica)
}

func readFromReplica(t *testing.T) {
	t.Helper()
	primary := pgtest.NewCluster(t, pgtest.ClusterDir(t))
	standby := primary.NewStandby()
	database := pgtest.ClusterAddress(primary)
	acme := newCompany(t, database)
	var servers [2]*process
	urls := &fleet{}
	for i := range servers {
		servers[i] = serve(t, database, append([]string{"--database-read", standby.ReadAddress()}, quickRetries...)...)
		urls.urls = append(urls.urls, servers[i].url)
	}
	work, mirror := newWorkforce(t, acme, urls), newSyncMirror(acme)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var background sync.WaitGroup
	background.Go(func() { work.run(ctx, 1, rand.Uint64()) })
	background.Go(func() {
		for ctx.Err() == nil {
			if err := mirror.poll(ctx, urls.next()); err != nil && ctx.Err() == nil {
				t.Error("sync:", err)
				return
			}
			wait(ctx, 20*time.Millisecond)
		}
	})
	reader := &replicaReader{t: t, company: acme, servers: urls}
	reader.round(10)
	for range 2 {
		onServer(t, standby, `SELECT pg_wal_replay_pause()`)
		reader.round(10)
		reader.wantNote(servers[0].url, "reads go to the primary")
		onServer(t, standby, `SELECT pg_wal_replay_resume()`)
		reader.wantNote(servers[0].url, "read replica: in use")
		reader.round(10)
	}
	standby.StopNow()
	reader.round(10)
	reader.wantNote(servers[1].url, "reads go to the primary")
	cancel()
	background.Wait()
	base := urls.next()
	eventually(t, timeout, "the sync mirror equals the truth", func() error {
		want, err := acme.truth(t.Context(), base)
		return errors.Join(err, mirror.poll(t.Context(), base), acme.checkSync(t.Context(), base, mirror, want))
	})
	reader.wantUse(servers[:])
}

// onServer runs a statement on one server of PostgreSQL.
func onServer(t *testing.T, server *pgtest.Cluster, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.ReadAddress())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// replicaReader writes at one server and reads at the next.
type replicaReader struct {
	t       *testing.T
	company company
	servers *fleet
	written int
}

// round makes n changes and looks for each in every kind of read.
func (r *replicaReader) round(n int) {
	r.t.Helper()
	for range n {
		r.written++
		key := fmt.Sprintf("replica-%d", r.written)
		r.company.provision(r.t, r.servers.next(), key)
		if got := r.company.mustSend(r.t, http.MethodGet, r.servers.next()+"/api/v1/employees?externalId="+key, nil); !strings.Contains(string(got), key) {
			r.t.Errorf("the list does not have %s, which was just written: %s", key, got)
		}
	}
	last := fmt.Sprintf("replica-%d", r.written)
	if got := r.company.mustSend(r.t, http.MethodGet, r.servers.next()+"/api/v1/reports/employees.csv", nil); !strings.Contains(string(got), last) {
		r.t.Errorf("the report does not have %s, which was just written", last)
	}
	r.walk()
}

// walk reads all pages, each at another server, and looks for every change.
func (r *replicaReader) walk() {
	r.t.Helper()
	seen := map[string]bool{}
	for path := "/api/v1/employees?limit=7"; path != ""; {
		base := r.servers.next()
		page, err := r.company.fetch(r.t.Context(), base+path)
		if err != nil {
			r.t.Fatal("walk:", err)
		}
		for _, item := range page.items {
			seen[fmt.Sprint(item["externalId"])] = true
		}
		_, path, _ = strings.Cut(page.next, "/api/")
		if path != "" {
			path = "/api/" + path
		}
	}
	for i := range r.written {
		if key := fmt.Sprintf("replica-%d", i+1); !seen[key] {
			r.t.Errorf("a walk over all pages misses %s", key)
		}
	}
}

// wantNote waits until /readyz?verbose of a server that is ready has a text.
func (r *replicaReader) wantNote(base, text string) {
	r.t.Helper()
	eventually(r.t, timeout, "/readyz?verbose with "+text, func() error {
		body, err := get(r.t.Context(), r.company.client, base+"/readyz?verbose")
		if err == nil && !strings.Contains(body, text) {
			err = errors.New(body)
		}
		return err
	})
}

// wantUse checks that the standby served reads of all servers, and that their metrics
// and logs report its absence.
func (r *replicaReader) wantUse(servers []*process) {
	r.t.Helper()
	for _, s := range servers {
		body, err := get(r.t.Context(), r.company.client, s.url+"/metrics")
		if err != nil {
			r.t.Fatal(err)
		}
		for _, line := range []string{"\ncoursebridge_replica_reads_total 0\n", "\ncoursebridge_replica_fallbacks_total 0\n", "\ncoursebridge_replica_in_use 1\n"} {
			if strings.Contains(body, line) {
				r.t.Errorf("/metrics has the line %q", strings.TrimSpace(line))
			}
		}
		if !strings.Contains(s.log.String(), "the read replica is not used") {
			r.t.Error("the log does not report that the standby is away")
		}
	}
}

// get returns the body of a page that is answered with 200.
func get(ctx context.Context, client *http.Client, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, body)
	}
	return string(body), err
}
