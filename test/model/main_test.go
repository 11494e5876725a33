// Package model calls every operation of the public API and of the platform API in
// random order and compares each answer, list, report and event with a small model of
// the service in memory. Concurrency and faults belong to test/faults.
package model

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// tortureEnv and seedEnv are set by make torture: how long the random sequences run,
// and the seed of their choices.
const (
	tortureEnv = "COURSEBRIDGE_TORTURE"
	seedEnv    = "COURSEBRIDGE_SEED"
)

func TestMain(m *testing.M) {
	flag.Parse()
	// A failure is repeated by its seed. shrinktime bounds how long rapid looks for a
	// shorter sequence that fails.
	set("rapid.nofailfile", "true")
	set("rapid.shrinktime", "20s")
	set("rapid.checks", "4")
	set("rapid.steps", "80")
	os.Exit(m.Run())
}

func set(name, value string) {
	if err := flag.Set(name, value); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Random sequences of all operations by two companies and the platform are answered as
// the model answers them. make torture repeats this with other seeds for its time. The
// engines take turns, because rapid has one seed for the whole process.
func TestRandomSequencesEqualTheModel(t *testing.T) {
	t.Parallel()
	seed, duration := settings(t)
	t.Logf("%s=%d repeats the choices of this run", seedEnv, seed)
	for engine, database := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		t.Run(engine, func(t *testing.T) {
			w := newWorld(t, engine, database(t))
			began := time.Now()
			for round := uint64(0); (round == 0 || time.Since(began) < duration) && !t.Failed(); round++ {
				set("rapid.seed", strconv.FormatUint(max(seed+round, 1), 10))
				t.Run(fmt.Sprint("seed ", seed+round), func(t *testing.T) { rapid.Check(t, w.check) })
			}
			w.checkWebhooks(t)
			t.Logf("%d sequences; requests by status: %v", w.sequences, w.tally)
		})
	}
}

// settings returns the seed, and for how long make torture wants the sequences.
func settings(t *testing.T) (seed uint64, duration time.Duration) {
	t.Helper()
	seed = rand.Uint64() >> 1
	var err error
	if text := os.Getenv(seedEnv); text != "" {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedEnv, err)
		}
	}
	if text := os.Getenv(tortureEnv); text != "" {
		if duration, err = time.ParseDuration(text); err != nil {
			t.Fatalf("%s: %v", tortureEnv, err)
		}
	}
	return seed, duration
}
