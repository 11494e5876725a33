package load

import (
	"testing"
)

// uncountedSQL removes the triggers that keep totals, one statement per engine and
// trigger.
var uncountedSQL = map[string][]string{
	"postgres": {"ALTER TABLE assignments DISABLE TRIGGER assignments_counted_insert", "ALTER TABLE employees DISABLE TRIGGER employees_counted_insert"},
	"sqlite":   {"DROP TRIGGER assignments_counted_insert", "DROP TRIGGER employees_counted_insert"},
}

// BenchmarkKeptTotals compares 16 writers of one company with the same program on a
// database without the triggers that keep totals.
func BenchmarkKeptTotals(b *testing.B) {
	for _, engine := range engineNames {
		for _, w := range []workload{{"assign by 16 writers", "req/s", assignWorkload}, {"provision by 16 writers", "req/s", provisionWorkload}} {
			b.Run(engine+"/"+w.name, func(b *testing.B) {
				database := engines[engine](b)
				kept, uncounted := w.prepare(b, engines[engine](b)), w.prepare(b, database)
				for _, sql := range uncountedSQL[engine] {
					if err := execute(b, engine, database, sql); err != nil {
						b.Fatalf("%s: %v", sql, err)
					}
				}
				for b.Loop() {
					c := compare(7, func() float64 { return kept(b) }, func() float64 { return uncounted(b) })
					ratio(b, w.name+", "+engine+", of the same without kept totals", c, 0.95, w.unit)
				}
			})
		}
	}
}

// execute runs a statement on a database behind the program's back.
func execute(b *testing.B, engine, database, sql string) error {
	b.Helper()
	if engine == "postgres" {
		_, err := connect(b, database).Exec(b.Context(), sql)
		return err
	}
	_, err := openFile(b, database).ExecContext(b.Context(), sql)
	return err
}
