package faults

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"regexp"
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
	r := &replicaReader{t: t, company: acme, urls: &fleet{}}
	for range 2 {
		s := serve(t, database, append([]string{"--database-read", standby.ReadAddress()}, quickRetries...)...)
		r.servers, r.urls.urls = append(r.servers, s), append(r.urls.urls, s.url)
	}
	r.work, r.mirror = newWorkforce(t, acme, r.urls), newSyncMirror(acme)
	r.visitor = newVisitor(t, acme, r.urls.next())
	stop := r.startOthers()
	r.round(10)
	for range 2 {
		onServer(t, standby, `SELECT pg_wal_replay_pause()`)
		r.round(10)
		r.wantNote("reads go to the primary")
		onServer(t, standby, `SELECT pg_wal_replay_resume()`)
		stop()
		r.wantReads()
		stop = r.startOthers()
		r.round(10)
	}
	standby.StopNow()
	r.round(10)
	r.wantNote("reads go to the primary")
	stop()
	base := r.urls.next()
	eventually(t, timeout, "the sync mirror equals the truth", func() error {
		want, err := acme.truth(t.Context(), base)
		return errors.Join(err, r.mirror.poll(t.Context(), base), acme.checkSync(t.Context(), base, r.mirror, want))
	})
	r.wantAway()
	acme.checkTotals(t)
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

// replicaReader writes at one server and reads at the next, while others do so too.
type replicaReader struct {
	t       *testing.T
	company company
	servers []*process
	urls    *fleet
	work    *workforce
	mirror  *syncMirror
	visitor *visitor
	written int
}

// startOthers starts a client that changes the company and one that synchronises, until
// they are stopped.
func (r *replicaReader) startOthers() (stop func()) {
	ctx, cancel := context.WithCancel(r.t.Context())
	var others sync.WaitGroup
	others.Go(func() { r.work.run(ctx, 1, rand.Uint64()) })
	others.Go(func() {
		for ctx.Err() == nil {
			if err := r.mirror.poll(ctx, r.urls.next()); err != nil && ctx.Err() == nil {
				r.t.Error("sync:", err)
				return
			}
			wait(ctx, 20*time.Millisecond)
		}
	})
	return func() { cancel(); others.Wait() }
}

// round makes n changes and looks for each in every kind of read.
func (r *replicaReader) round(n int) {
	r.t.Helper()
	for range n {
		r.written++
		key := fmt.Sprintf("replica-%d", r.written)
		r.company.provision(r.t, r.urls.next(), key)
		if got := r.company.mustSend(r.t, http.MethodGet, r.urls.next()+"/api/v1/employees?externalId="+key, nil); !strings.Contains(string(got), key) {
			r.t.Errorf("the list does not have %s, which was just written: %s", key, got)
		}
	}
	r.visit()
	last := fmt.Sprintf("replica-%d", r.written)
	if got := r.company.mustSend(r.t, http.MethodGet, r.urls.next()+"/api/v1/reports/employees.csv", nil); !strings.Contains(string(got), last) {
		r.t.Errorf("the report does not have %s, which was just written", last)
	}
	if got := r.company.mustSend(r.t, http.MethodGet, r.urls.next()+"/api/v1/reports/employees.xlsx", nil); !strings.Contains(sheets(r.t, got), last) {
		r.t.Errorf("the workbook does not have %s, which was just written", last)
	}
	r.walk()
}

// visit adds somebody in the cabinet and changes their name. The page that the form leads to
// has it, and so have the page and the list at the other server.
func (r *replicaReader) visit() {
	r.t.Helper()
	r.written++
	key := fmt.Sprintf("replica-%d", r.written)
	r.visitor.base = r.urls.next()
	path, page := r.visitor.post(r.t, "/cabinet/employees/new", "name", "Visited "+key, "email", key+"@acme.example")
	if !strings.Contains(page, "Visited "+key) {
		r.t.Errorf("the page %s, to which the new form leads, does not have %s", path, key)
	}
	r.visitor.base = r.urls.next()
	if path, page = r.visitor.post(r.t, path+"/edit", "name", "Renamed "+key, "email", key+"@acme.example", "externalId", key, "role", "employee"); !strings.Contains(page, "Renamed "+key) {
		r.t.Errorf("the page %s, to which the form of the change leads, does not have the new name of %s", path, key)
	}
	for _, path := range []string{path, "/cabinet/employees?q=" + key + "@"} {
		r.visitor.base = r.urls.next()
		if page := r.visitor.get(r.t, path); !strings.Contains(page, "Renamed "+key) {
			r.t.Errorf("%s does not have the name of %s, which was just changed", path, key)
		}
	}
}

// sheets returns the text of a workbook's sheets.
func sheets(t *testing.T, workbook []byte) string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(workbook), int64(len(workbook)))
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(z, "xl/worksheets/*.xml")
	if err != nil || len(files) == 0 {
		t.Fatalf("a workbook without sheets: %v", err)
	}
	var text strings.Builder
	for _, name := range files {
		sheet, err := fs.ReadFile(z, name)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(sheet)
	}
	return text.String()
}

// walk reads all pages, each at another server, and looks for every change.
func (r *replicaReader) walk() {
	r.t.Helper()
	seen := map[string]bool{}
	for path := "/api/v1/employees?limit=7"; path != ""; {
		base := r.urls.next()
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

// wantNote waits until /readyz?verbose of every server, which is ready, has a text.
func (r *replicaReader) wantNote(text string) {
	r.t.Helper()
	for _, s := range r.servers {
		r.wantPage(s, "/readyz?verbose", text)
	}
}

func (r *replicaReader) wantPage(s *process, path, text string) {
	r.t.Helper()
	eventually(r.t, timeout, path+" with "+text, func() error {
		body, err := get(r.t.Context(), r.company.client, s.url+path)
		if err == nil && !strings.Contains(body, text) {
			err = errors.New(body)
		}
		return err
	})
}

// wantReads checks that the standby serves the reads of every server again. Nobody writes
// meanwhile: while others do, a standby on a busy machine may be behind at every read.
func (r *replicaReader) wantReads() {
	r.t.Helper()
	for _, s := range r.servers {
		served := r.replicaReads(s)
		eventually(r.t, timeout, "a list from the standby", func() error {
			r.company.mustSend(r.t, http.MethodGet, s.url+"/api/v1/employees", nil)
			if r.replicaReads(s) == served {
				return errors.New("the primary served it")
			}
			return nil
		})
	}
	r.wantNote("read replica: in use")
}

var replicaReadsLine = regexp.MustCompile(`(?m)^coursebridge_replica_reads_total (\S+)$`)

// replicaReads returns how many reads of a server the standby has served.
func (r *replicaReader) replicaReads(s *process) string {
	r.t.Helper()
	body, err := get(r.t.Context(), r.company.client, s.url+"/metrics")
	found := replicaReadsLine.FindStringSubmatch(body)
	if err != nil || found == nil {
		r.t.Fatalf("read the metrics of the replica from %q: %v", body, err)
	}
	return found[1]
}

// wantAway checks that metrics and logs of all servers report that the standby is away.
func (r *replicaReader) wantAway() {
	r.t.Helper()
	for _, s := range r.servers {
		r.wantPage(s, "/metrics", "\ncoursebridge_replica_in_use 0\n")
		body, err := get(r.t.Context(), r.company.client, s.url+"/metrics")
		if err != nil || strings.Contains(body, "\ncoursebridge_replica_fallbacks_total 0\n") {
			r.t.Errorf("/metrics counts no read that went to the primary: %v", err)
		}
		eventually(r.t, timeout, "the standby's absence in the log", func() error {
			if !strings.Contains(s.log.String(), "the read replica is not used") {
				return errors.New("it is not there")
			}
			return nil
		})
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
