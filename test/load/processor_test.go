package load

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// processorTime returns the time that the machine's processors were busy since it
// was started, or 0 if it is unknown.
func processorTime() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[:bytes.IndexByte(text, '\n')]))
	ticks := 0
	for _, i := range []int{1, 2, 3, 6, 7} { // user, nice, system, irq, softirq
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * (10 * time.Millisecond)
}

// costMeter measures the processor time of a server and of the processes that PostgreSQL
// runs for it, if that is on this machine.
type costMeter struct {
	server   *program
	conn     *pgx.Conn             // nil with SQLite
	backends map[int]time.Duration // by process; those that have ended stay
}

func newCostMeter(b *testing.B, server *program, database string) *costMeter {
	b.Helper()
	m := &costMeter{server: server, backends: map[int]time.Duration{}}
	if strings.HasPrefix(database, "postgres") {
		m.conn = connect(b, database)
	}
	return m
}

// total returns the processor time so far, 0 if the kernel does not count it.
func (m *costMeter) total(b *testing.B) time.Duration {
	b.Helper()
	total := m.server.work()
	if m.conn == nil || total == 0 {
		return total
	}
	var pids []int
	if err := m.conn.QueryRow(b.Context(), `SELECT array_agg(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND backend_type = 'client backend' AND application_name <> $1`, ownName).Scan(&pids); err != nil {
		b.Fatal(err)
	}
	for _, pid := range pids {
		m.backends[pid] = max(m.backends[pid], onProcessor(pid))
	}
	for _, used := range m.backends {
		total += used
	}
	return total
}

// since returns the processor time since before, for each of n requests, in microseconds.
func (m *costMeter) since(b *testing.B, before time.Duration, n int) float64 {
	b.Helper()
	return float64((m.total(b) - before).Nanoseconds()) / 1000 / float64(n)
}

// work returns the processor time that the server has used.
func (p *program) work() time.Duration { return onProcessor(p.cmd.Process.Pid) }

// onProcessor returns the processor time that the threads of a process have used, 0 if it
// has ended. /proc/PID/stat has hundredths of a second, which is as long as ten requests take.
func onProcessor(pid int) (sum time.Duration) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0 // unreachable: the pattern is valid
	}
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			continue // it has ended
		}
		first, _, _ := strings.Cut(string(text), " ")
		if n, err := strconv.ParseInt(first, 10, 64); err == nil {
			sum += time.Duration(n)
		}
	}
	return sum
}

// postmaster returns the process of the PostgreSQL server, which must be on this machine.
func postmaster(b *testing.B, conn *pgx.Conn) int {
	b.Helper()
	var backend int
	if err := conn.QueryRow(b.Context(), "SELECT pg_backend_pid()").Scan(&backend); err != nil {
		b.Fatal(err)
	}
	parent, _ := processStat(b, backend)
	return parent
}

// processTime returns the processor time that a process and its children have used,
// also those children that have ended.
func processTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	_, sum := processStat(b, pid)
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		b.Fatal(err)
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, child := range strings.Fields(string(text)) {
			id, err := strconv.Atoi(child)
			if err != nil {
				b.Fatal(err)
			}
			_, own := processStat(b, id)
			sum += own
		}
	}
	return sum
}

// processStat returns the parent of a process and the processor time that it and its
// ended children have used; nothing for a process that has ended.
func processStat(b *testing.B, pid int) (parent int, used time.Duration) {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	// The name in brackets may hold spaces; the parent is the second field after it.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if parent, err = strconv.Atoi(fields[1]); err != nil {
		b.Fatal(err)
	}
	for _, ticks := range fields[11:15] { // user and system time, and those of its children
		n, err := strconv.Atoi(ticks)
		if err != nil {
			b.Fatal(err)
		}
		used += time.Duration(n) * 10 * time.Millisecond
	}
	return parent, used
}
