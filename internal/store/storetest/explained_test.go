package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// runStatement is a statement that the store has run, or one of an engine's own.
type runStatement struct {
	db.Item
	// generic means that it is run with one plan for all arguments, which is then the plan
	// to explain: it can differ from the plan for these arguments.
	generic bool
}

func (s runStatement) key(engine string) statementKey { return statementKey{engine, s.SQL, s.generic} }

type statementKey struct {
	engine, sql string
	generic     bool
}

// planLog is what is known of statements that the store has run: if one is in run, but
// not in plans, nobody has seen its plan.
type planLog struct {
	sync.Mutex
	run      map[statementKey]bool
	plans    map[statementKey]bool
	failed   map[statementKey]error // why the latest attempt to explain it failed
	unknown  map[string]bool        // statements that are neither planned nor without a plan
	postgres []runStatement         // those in plans, with their arguments
}

func newPlanLog() *planLog {
	return &planLog{run: map[statementKey]bool{}, plans: map[statementKey]bool{}, failed: map[statementKey]error{}, unknown: map[string]bool{}}
}

// explained is the log of all tests.
var explained = newPlanLog()

// TestMain has every statement that the store runs in a test of this package
// explained once, at the end of that test, and fails the test if the plan reads all
// of a growing table. See also checkAfterAll.
func TestMain(m *testing.M) {
	storetest.WrapEngine = func(tb testing.TB, engine db.Engine) db.Engine {
		var mu sync.Mutex
		seen := map[statementKey]runStatement{}
		tb.Cleanup(func() {
			mu.Lock()
			defer mu.Unlock()
			for _, st := range seen {
				for _, problem := range explained.explain(engine, st) {
					tb.Errorf("%sof the statement\n%s", problem, st.SQL)
				}
			}
		})
		return &recorder{Engine: engine, keep: func(it db.Item, generic bool) bool {
			if !calledByStore() {
				return false
			}
			it.Args = slices.Clone(it.Args)
			st := runStatement{it, generic}
			if explained.isNoted(engine, st) {
				mu.Lock()
				defer mu.Unlock()
				seen[st.key(engine.Name())] = st
			}
			return false
		}}
	}
	code := m.Run()
	if code == 0 {
		if err := checkAfterAll(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// planned matches statements that have a plan.
var planned = regexp.MustCompile(`^\s*(SELECT|UPDATE|DELETE|INSERT|WITH)\b`)

// unplanned are the other kinds of statements that the store and the engines run, by their
// first word, and why no engine explains them.
var unplanned = map[string]string{
	"BEGIN": transactions, "COMMIT": transactions, "ROLLBACK": transactions, "SAVEPOINT": transactions, "RELEASE": transactions,
	"SET":    "sets a setting; what follows it in one text (ANALYZE, VALIDATE CONSTRAINT) is meant to read a table",
	"LISTEN": "asks for notifications, reads no table",
	"LOCK":   "locks a table, reads no row of it",
	"CREATE": definitions, "ALTER": definitions, "DROP": definitions,
	"PRAGMA": "is a setting or a command of SQLite",
	"VACUUM": "rewrites the whole file, or copies it, as it is meant to",
}

const (
	transactions = "begins or ends a transaction"
	definitions  = "changes the schema"
)

func firstWord(sql string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(sql), " ")
	return word
}

// isNoted reports whether a statement that the store has run is to be explained.
func (l *planLog) isNoted(engine db.Engine, st runStatement) bool {
	l.Lock()
	defer l.Unlock()
	if !planned.MatchString(st.SQL) {
		if unplanned[firstWord(st.SQL)] == "" {
			l.unknown[st.SQL] = true
		}
		return false
	}
	l.run[st.key(engine.Name())] = true
	return true
}

// calledByStore reports whether the code that runs a statement is the store's, not a
// test's own. It goes by the file: the compiler names the function literals of a method
// that it inlines into a test after the test.
func calledByStore() bool {
	callers := make([]uintptr, 16)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for {
		frame, more := frames.Next()
		if filepath.Base(frame.File) != "recorder_test.go" {
			return strings.HasSuffix(filepath.Dir(frame.File), "/internal/store")
		}
		if !more {
			return false
		}
	}
}

// explain explains a statement that no test has explained yet, and returns what is wrong
// with its plan. A test may have made its database unusable; then another test has to
// explain the statement.
func (l *planLog) explain(engine db.Engine, st runStatement) (problems []string) {
	key := st.key(engine.Name())
	l.Lock()
	known := l.plans[key]
	l.plans[key] = true
	l.Unlock()
	if known {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	plan, err := planOf(ctx, engine, st, reluctant)
	l.Lock()
	defer l.Unlock()
	if err != nil {
		delete(l.plans, key)
		l.failed[key] = err
		return nil
	}
	if engine.Name() == "postgres" {
		l.postgres = append(l.postgres, st)
	}
	return problemsOf(engine.Name(), st.SQL, plan)
}

// problemsOf returns what is wrong with a plan that was made reluctantly, each with the
// plan.
func problemsOf(engine, sql, plan string) (out []string) {
	for _, table := range scannedTables(engine, sql, plan) {
		if growingTables.MatchString(table) && !allowedScan.MatchString(plan+sql) {
			out = append(out, "all of "+table+" is read, by the plan\n"+plan+"\n")
		}
	}
	if engine == "postgres" {
		for _, table := range withoutCompany(sql, plan) {
			out = append(out, table+" is used without its company_id (see crossCompany), by the plan\n"+plan+"\n")
		}
	}
	return out
}

// unexplained returns an error for each statement that the store has run and whose plan
// nobody has seen, and for each exemption that no statement needs.
func (l *planLog) unexplained() error {
	l.Lock()
	defer l.Unlock()
	var errs []error
	for key := range l.run {
		if !l.plans[key] {
			errs = append(errs, fmt.Errorf("%s did not explain this statement: %w\n%s", key.engine, l.failed[key], key.sql))
		}
	}
	for _, c := range crossCompany {
		if !slices.ContainsFunc(l.postgres, func(st runStatement) bool { return strings.Contains(oneLine(st.SQL), c.text) }) {
			errs = append(errs, fmt.Errorf("crossCompany has a statement that nobody runs: %s", c.text))
		}
	}
	for sql := range l.unknown {
		errs = append(errs, fmt.Errorf("is this a statement with a plan (planned) or without one (unplanned)? %s", sql))
	}
	return errors.Join(errs...)
}

// reluctant are settings with which PostgreSQL avoids the plans that read whole tables,
// which it prefers while they are small: it then makes one only where no index helps.
var reluctant = []string{"enable_seqscan = off", "enable_bitmapscan = off", "enable_hashjoin = off", "enable_mergejoin = off"}

// planOf returns the plan of a statement, on PostgreSQL with the settings.
func planOf(ctx context.Context, engine db.Engine, st runStatement, settings []string) (string, error) {
	var lines []string
	b := &db.Batch{}
	if engine.Name() == "sqlite" {
		b.Query(func(r db.Rows) error {
			var id, parent, unused int64
			var line string
			err := r.Scan(&id, &parent, &unused, &line)
			lines = append(lines, line)
			return err
		}, `EXPLAIN QUERY PLAN `+st.SQL, st.Args...)
		err := engine.Write(ctx, func(tx db.Tx) error { return tx.Send(ctx, b) })
		return strings.Join(lines, "\n"), err
	}
	for _, setting := range settings {
		b.Exec(`SET LOCAL ` + setting)
	}
	each := func(r db.Rows) error {
		var line string
		err := r.Scan(&line)
		lines = append(lines, line)
		return err
	}
	if st.generic {
		explainGeneric(b, each, st.SQL)
	} else {
		b.Query(each, `EXPLAIN `+st.SQL, st.Args...)
	}
	err := engine.Write(ctx, func(tx db.Tx) error { return tx.Send(ctx, b) })
	return strings.Join(lines, "\n"), err
}

var genericNumber atomic.Int64

// explainGeneric queues what explains the plan for any arguments. PostgreSQL 15 has no
// EXPLAIN (GENERIC_PLAN), and EXPLAIN of a statement with arguments plans for them.
func explainGeneric(b *db.Batch, each func(db.Rows) error, sql string) {
	name := fmt.Sprintf("explained_%d", genericNumber.Add(1))
	execute := name
	if n := arguments(sql); n > 0 {
		execute += "(NULL" + strings.Repeat(", NULL", n-1) + ")"
	}
	b.Exec(`SET LOCAL plan_cache_mode = force_generic_plan`)
	b.Exec(`PREPARE ` + name + ` AS ` + sql)
	b.Query(each, `EXPLAIN EXECUTE `+execute)
	b.Exec(`DEALLOCATE ` + name)
}

// arguments returns how many arguments a statement takes.
func arguments(sql string) (n int) {
	for _, m := range placeholder.FindAllString(sql, -1) {
		i, _ := strconv.Atoi(m[1:])
		n = max(n, i)
	}
	return n
}

// A statement that an engine does not explain, and one of an unknown kind, are noticed.
func TestStatementsWithoutAPlanAreNoticed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		l := newPlanLog()
		for _, sql := range []string{`SELECT 1 FROM employees WHERE company_id = $1`, `SELECT 1 FROM nowhere WHERE id = $1`, `MERGE INTO nowhere`} {
			if st := (runStatement{Item: db.Item{SQL: sql, Args: []any{7}}}); l.isNoted(s.Engine(), st) {
				equal(t, "problems", l.explain(s.Engine(), st), nil)
			}
		}
		problems := l.unexplained().Error()
		for text, want := range map[string]bool{"FROM nowhere WHERE": true, "MERGE INTO": true, "FROM employees WHERE company_id": false} {
			equal(t, text+" is noticed", strings.Contains(problems, text), want)
		}
	})
}
