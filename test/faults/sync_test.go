package faults

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // to step the clock of PostgreSQL
)

// tortureEnv and seedEnv are set by make torture: how long the random tests run,
// and the seed of their choices.
const (
	tortureEnv = "COURSEBRIDGE_TORTURE"
	seedEnv    = "COURSEBRIDGE_SEED"
)

// shortTorture is how long the random tests run in make test.
const shortTorture = 20 * time.Second

// pauseLength is longer than the lease of an endpoint.
const pauseLength = 8 * time.Second

func tortureSettings(t *testing.T) (duration time.Duration, seed uint64) {
	t.Helper()
	duration, seed = shortTorture, rand.Uint64()>>1
	if text := os.Getenv(tortureEnv); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("%s: %v", tortureEnv, err)
		}
		duration = d
	}
	if text := os.Getenv(seedEnv); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", seedEnv, err)
		}
		seed = n
	}
	t.Logf("%s=%d repeats the choices of this run", seedEnv, seed)
	return duration, seed
}

// repeatUnderTorture runs a scenario once, and again and again in make torture until
// its time is over.
func repeatUnderTorture(t *testing.T, scenario func(t *testing.T)) {
	t.Helper()
	if os.Getenv(tortureEnv) == "" {
		scenario(t)
		return
	}
	duration, _ := tortureSettings(t)
	for began, round := time.Now(), 1; time.Since(began) < duration && !t.Failed(); round++ {
		t.Run(strconv.Itoa(round), scenario)
	}
}

// Two clients mirror a company while workers change it at random, servers are
// killed, the clock steps forward and back and, on PostgreSQL, one of two replicas is
// paused for longer than its leases last. One client polls with updatedSince, the
// other applies webhooks in the order of their sequence. In the end both mirrors
// equal what the API shows.
func TestMirrorsEqualTheTruth(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		replicas := 1
		if database[0] == 'p' {
			replicas = 2
		}
		mirrorUnderTorture(t, database, replicas)
	})
}

func mirrorUnderTorture(t *testing.T, database string, replicas int) {
	t.Helper()
	duration, seed := tortureSettings(t)
	acme, inbox := newCompany(t, database), newReceiver(t, failSometimes)
	acme.client.Timeout = 5 * time.Second // requests to a paused replica do not hold up the workers
	runJSON[webhook](t, database, "webhook", "add", "--company", formatID(acme.id), "--url", inbox.URL,
		"--event", "employee.joined", "--event", "employee.removed", "--event", "assignment.created",
		"--event", "assignment.completed", "--event", "assignment.failed", "--event", "assignment.overdue")
	cluster := newCluster(t, database, replicas)
	work := newWorkforce(t, acme, cluster.servers)
	mirror := newSyncMirror(acme)

	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	var background sync.WaitGroup
	background.Go(func() { work.run(ctx, 4, seed) })
	background.Go(func() { mirror.follow(ctx, cluster.servers) })
	cluster.torture(ctx, t, rand.New(rand.NewPCG(seed, 1<<32)))
	background.Wait()
	t.Logf("calls: %v; %d deliveries arrived", work.calls, len(first(inbox.all())))

	base := cluster.servers.next()
	eventually(t, timeout, "the sync mirror equals the truth", func() error {
		want, err := acme.truth(t.Context(), base)
		return errors.Join(err, mirror.poll(t.Context(), base), acme.checkSync(t.Context(), base, mirror, want))
	})
	newLedger(t, acme, cluster.servers).waitUntilDrained(t)
	// A deadline may pass just now: the API shows it at once, the event follows.
	eventually(t, timeout, "the webhook mirror equals the truth", func() error {
		want, err := acme.truth(t.Context(), base)
		return errors.Join(err, acme.checkWebhooks(t.Context(), base, newWebhookMirror(first(inbox.all())), want))
	})
}

// first returns the first of two values.
func first[A, B any](a A, _ B) A { return a }

// cluster is the servers on one database.
type cluster struct {
	database string
	replicas []*process
	servers  *fleet

	steps, longSteps int // how often the clock stepped, and by more than half a minute
}

func newCluster(t *testing.T, database string, replicas int) *cluster {
	t.Helper()
	c := &cluster{database: database, servers: &fleet{}}
	for range replicas {
		p := serve(t, database, quickRetries...)
		c.replicas, c.servers.urls = append(c.replicas, p), append(c.servers.urls, p.url)
	}
	return c
}

// stepClock steps the clock of the database. On PostgreSQL its clock differs from the
// machine's from now on. On SQLite the clock is the machine's: a latest change that
// lies in the future is what a machine leaves whose clock ran ahead and stepped back.
func (c *cluster) stepClock(t *testing.T, shift time.Duration) {
	t.Helper()
	statement := fmt.Sprintf(`CREATE OR REPLACE FUNCTION database_clock() RETURNS timestamptz
		LANGUAGE sql VOLATILE AS 'SELECT clock_timestamp() + interval ''%d milliseconds'''`, shift.Milliseconds())
	driver, address := "pgx", c.database
	if path, ok := strings.CutPrefix(c.database, "sqlite://"); ok {
		driver, address = "sqlite", path+"?_pragma=busy_timeout(10000)"
		statement = fmt.Sprintf(`UPDATE change_clock SET at = at + %d`, shift.Milliseconds())
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal("step the clock:", err)
	}
}

// randomStep returns how far to step the clock: often not at all, up to a second or three,
// and the second time and once in a while by more than half a minute, which is longer than all leases and all
// windows of samples. On SQLite such a step stays: the clock then goes on at half speed
// until the machine's has caught up, so that they may not add up to hours.
func (c *cluster) randomStep(r *rand.Rand) time.Duration {
	shift := time.Duration(r.IntN(2)*r.IntN(3000)) * time.Millisecond
	if c.steps++; c.steps == 2 || r.IntN(6) == 0 && c.longSteps < 5 {
		c.longSteps++
		shift = time.Duration(31+r.IntN(10)) * time.Second
	}
	return shift
}

// torture kills and pauses servers and steps the clock at random until ctx ends. All
// servers run when it returns.
func (c *cluster) torture(ctx context.Context, t *testing.T, r *rand.Rand) {
	t.Helper()
	for round := 0; wait(ctx, time.Duration(500+r.IntN(3000))*time.Millisecond); round++ {
		i := r.IntN(len(c.replicas))
		if round%2 == 0 {
			c.stepClock(t, c.randomStep(r))
		}
		if round%3 == 1 && len(c.replicas) > 1 {
			c.replicas[i].signal(t, syscall.SIGSTOP)
			wait(ctx, pauseLength)
			c.replicas[i].signal(t, syscall.SIGCONT)
			continue
		}
		c.replicas[i].kill()
		c.replicas[i] = serve(t, c.database, quickRetries...)
		c.servers.set(i, c.replicas[i].url)
	}
}

// wait returns true after d, or false as soon as ctx ends.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
