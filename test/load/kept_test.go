package load

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// keepEnv names a directory. If it is set, the databases of the cabinet's pages stay
// for the next run, which need not fill them again: those of PostgreSQL on the server of
// COURSEBRIDGE_TEST_POSTGRES, those of SQLite in the directory.
const keepEnv = "COURSEBRIDGE_BENCH_KEEP"

// filled returns a database that fill has filled, in this run or an earlier one.
func filled(b *testing.B, engine, name string, fill func(database string)) string {
	b.Helper()
	dir := os.Getenv(keepEnv)
	switch {
	case dir == "":
		database := engines[engine](b)
		fill(database)
		return database
	case engine == "sqlite":
		return keptFile(b, filepath.Join(dir, name+".db"), fill)
	}
	return keptDatabase(b, name, fill)
}

func keptFile(b *testing.B, path string, fill func(database string)) string {
	b.Helper()
	if _, err := os.Stat(path); err == nil {
		migrate(b, "sqlite://"+path)
		return "sqlite://" + path
	}
	unfinished := filepath.Join(filepath.Dir(path), "unfinished")
	if err := os.RemoveAll(unfinished); err != nil {
		b.Fatal(err)
	}
	if err := os.Mkdir(unfinished, 0o700); err != nil {
		b.Fatal(err)
	}
	fill("sqlite://" + filepath.Join(unfinished, filepath.Base(path)))
	files, err := filepath.Glob(filepath.Join(unfinished, "*"))
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range slices.Backward(files) { // the database last, after its key and log
		if err := os.Rename(file, filepath.Join(filepath.Dir(path), filepath.Base(file))); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.Remove(unfinished); err != nil {
		b.Fatal(err)
	}
	return "sqlite://" + path
}

// keptDatabase marks a database as filled by its comment.
func keptDatabase(b *testing.B, name string, fill func(database string)) string {
	b.Helper()
	address, err := url.Parse(os.Getenv("COURSEBRIDGE_TEST_POSTGRES"))
	if err != nil {
		b.Fatal(err)
	}
	conn := connect(b, address.String())
	address.Path = "/" + name
	isFilled := false
	if err := conn.QueryRow(b.Context(), "SELECT count(*) > 0 FROM pg_database WHERE datname = $1 AND shobj_description(oid, 'pg_database') = 'filled'",
		name).Scan(&isFilled); err != nil {
		b.Fatal(err)
	}
	if isFilled {
		migrate(b, address.String())
		return address.String()
	}
	run := func(sql string) {
		if _, err := conn.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	run("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)")
	run("CREATE DATABASE " + name)
	fill(address.String())
	run("COMMENT ON DATABASE " + name + " IS 'filled'")
	return address.String()
}

func migrate(b *testing.B, database string) {
	b.Helper()
	runJSON[struct{ Status string }](b, database, "migrate")
}
