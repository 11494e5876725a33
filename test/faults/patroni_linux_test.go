package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// patroniConfig is the configuration of one of two members: its name, its REST address,
// etcd's address, its PostgreSQL's address and directory, the programs, and a directory.
const patroniConfig = `scope: coursebridge
name: %[1]s
restapi: {listen: '%[2]s', connect_address: '%[2]s'}
etcd3: {hosts: '%[3]s'}
bootstrap:
  dcs: {ttl: 20, loop_wait: 1, retry_timeout: 3, synchronous_mode: true, postgresql: {parameters: {max_connections: 60, fsync: 'off'}}}
  initdb: [{encoding: UTF8}, {locale: C.UTF-8}, {auth: trust}]
  pg_hba: [host all all 127.0.0.1/32 trust, host replication all 127.0.0.1/32 trust]
postgresql:
  listen: '%[4]s'
  connect_address: '%[4]s'
  data_dir: %[5]s
  bin_dir: %[6]s
  pgpass: %[5]s.pgpass
  authentication: {superuser: {username: postgres}, replication: {username: postgres}}
  parameters: {unix_socket_directories: %[7]s}
`

// member is a PostgreSQL that Patroni looks after.
type member struct {
	dir, rest, address string
	patroni            *exec.Cmd
}

// newPatroni starts etcd and two members, and waits until one is the leader and the
// other its synchronous standby.
func newPatroni(t *testing.T) [2]*member {
	t.Helper()
	dir, client, peer := pgtest.ClusterDir(t), freeAddress(t), freeAddress(t)
	startAsServer(t, filepath.Join(dir, "etcd.log"), pgtest.Program(t, "etcd"), "--data-dir", filepath.Join(dir, "etcd"),
		"--listen-client-urls", "http://"+client, "--advertise-client-urls", "http://"+client, "--listen-peer-urls", "http://"+peer,
		"--initial-advertise-peer-urls", "http://"+peer, "--initial-cluster", "default=http://"+peer)
	var members [2]*member
	for i := range members {
		name := fmt.Sprint("member", i)
		m := &member{dir: filepath.Join(dir, name), rest: freeAddress(t), address: freeAddress(t)}
		config := filepath.Join(dir, name+".yml")
		text := fmt.Sprintf(patroniConfig, name, m.rest, client, m.address, m.dir, pgtest.Programs(t), dir)
		if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { pgtest.StopCluster(t, m.dir) })
		m.patroni = startAsServer(t, filepath.Join(dir, name+".log"), pgtest.Program(t, "patroni"), config)
		members[i] = m
		what := []string{`"role": "leader", "state": "running"`, `"role": "sync_standby", "state": "running"`}[i]
		eventually(t, 3*timeout, "Patroni has the member "+name, func() error {
			body, err := get(t.Context(), http.DefaultClient, "http://"+members[0].rest+"/cluster")
			if err == nil && !strings.Contains(body, what) {
				err = errors.New(body)
			}
			return err
		})
	}
	return members
}

// startAsServer starts a program as PostgreSQL's account. It ends with the test.
func startAsServer(t *testing.T, log, program string, args ...string) *exec.Cmd {
	t.Helper()
	out, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = out, out, filepath.Dir(log)
	pgtest.AsServer(t, cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	return cmd
}

// failOverByPatroni crashes the leader, with Patroni's own process, while clients write.
// Patroni promotes the standby once the leader's lock has expired. Nothing acknowledged
// is lost, and changes go through within maxFailover of the promotion.
func failOverByPatroni(t *testing.T) {
	members := newPatroni(t)
	database := fmt.Sprintf("postgres://postgres@%s,%s/postgres?sslmode=disable&connect_timeout=2&target_session_attrs=read-write", members[0].address, members[1].address)
	acme, inbox := newCompany(t, database), newReceiver(t, failSometimes)
	webhook := acme.addWebhook(t, inbox.URL)
	replicas := []*process{serve(t, database, quickRetries...), serve(t, database, quickRetries...)}
	l := newLedger(t, acme, &fleet{urls: []string{replicas[0].url, replicas[1].url}})
	whileWriting(t, l, 4, func() {
		l.waitForAcks(t, 100)
		_ = members[0].patroni.Process.Kill()
		pgtest.StopCluster(t, members[0].dir)
		down := time.Now()
		eventually(t, 2*timeout, "Patroni promotes the standby", func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := get(ctx, http.DefaultClient, "http://"+members[1].rest+"/primary") // 200 from the leader only
			return err
		})
		promoted := time.Now()
		l.waitForAcks(t, 1)
		took := time.Since(promoted)
		t.Logf("Patroni promoted the standby %s after the crash; changes go through %s later", promoted.Sub(down).Round(time.Millisecond), took.Round(time.Millisecond))
		if took > maxFailover {
			t.Errorf("changes go through %s after the promotion, want %s at most", took, maxFailover)
		}
		l.waitForAcks(t, 100)
	})
	l.checkDeliveries(t, replicas[0].url, inbox, webhook)
}
