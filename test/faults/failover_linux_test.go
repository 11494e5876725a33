package faults

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// maxFailover is how long after the promotion of a standby changes may be refused.
const maxFailover = 10 * time.Second

// The primary crashes while clients write, and its streaming standby is promoted. Two
// servers find it by themselves. Nothing acknowledged is lost, nothing is made twice.
// make torture also has Patroni do it, which waits for 20 s before it promotes.
func TestFailoverToAStandbyLosesNothing(t *testing.T) {
	t.Parallel()
	repeatUnderTorture(t, failOver)
	if os.Getenv(tortureEnv) != "" {
		t.Run("by Patroni", failOverByPatroni)
	}
}

func failOver(t *testing.T) {
	t.Helper()
	primary := pgtest.NewCluster(t, pgtest.ClusterDir(t))
	standby := primary.NewStandby()
	primary.EnableSynchronousReplication()
	database := pgtest.ClusterAddress(primary, standby)
	acme, inbox := newCompany(t, database), newReceiver(t, failSometimes)
	webhook := acme.addWebhook(t, inbox.URL)
	replicas := []*process{serve(t, database, quickRetries...), serve(t, database, quickRetries...)}
	l := newLedger(t, acme, &fleet{urls: []string{replicas[0].url, replicas[1].url}})
	whileWriting(t, l, 4, func() {
		l.waitForAcks(t, 100)
		primary.StopNow()
		standby.Promote()
		promoted := time.Now()
		l.waitForAcks(t, 1)
		if took := time.Since(promoted); took > maxFailover {
			t.Errorf("changes go through %s after the promotion, want %s at most", took, maxFailover)
		} else {
			t.Logf("changes go through %s after the promotion", took.Round(time.Millisecond))
		}
		l.waitForAcks(t, 100)
	})
	for _, r := range replicas {
		eventually(t, timeout, "/readyz after the failover", func() error {
			status, err := probe(acme.client, r.url+"/readyz")
			return expect(status, err, http.StatusOK)
		})
	}
	l.checkDeliveries(t, replicas[0].url, inbox, webhook)
}

// PostgreSQL's disk fills up while clients write. Changes are refused; once there is
// space again they go through, and nothing acknowledged is lost.
func TestPostgresOnAFullDisk(t *testing.T) {
	t.Parallel()
	repeatUnderTorture(t, fillPostgresDisk)
}

func fillPostgresDisk(t *testing.T) {
	t.Helper()
	dir := pgtest.ClusterDir(t)
	disk := filepath.Join(dir, "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	smallDisk(t, disk, 160<<20)
	pg := pgtest.NewCluster(t, disk)
	database := pgtest.ClusterAddress(pg)
	acme, inbox := newCompany(t, database), newReceiver(t, nil)
	webhook := acme.addWebhook(t, inbox.URL)
	server := serve(t, database, quickRetries...)
	l := newLedger(t, acme, &fleet{urls: []string{server.url}})
	whileWriting(t, l, 4, func() {
		l.waitForAcks(t, 50)
		filler := fillDisk(t, disk)
		probes := 0
		eventually(t, timeout, "changes are refused", func() error {
			probes++ // each needs a little more space
			got, err := acme.send(t.Context(), http.MethodPost, server.url+"/api/v1/employees/provision", newPerson(fmt.Sprint("probe-", probes)))
			return expect(got.status, err, http.StatusServiceUnavailable)
		})
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		if !pg.IsRunning() { // a server that can't write its log ends; the operator starts it again
			pg.StopNow()
			pg.Start()
		}
		l.waitForAcks(t, 50)
	})
	l.checkDeliveries(t, server.url, inbox, webhook)
}

// fillDisk writes a file that takes all the space that is left.
func fillDisk(t *testing.T, dir string) (path string) {
	t.Helper()
	path = filepath.Join(dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	chunk := make([]byte, 64<<10)
	for {
		if _, err := f.Write(chunk); err != nil {
			return path
		}
	}
}
