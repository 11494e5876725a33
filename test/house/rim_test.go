package house

import (
	"slices"
	"testing"
)

// technology says where a library may be known.
type technology struct {
	prefix string
	homes  []string
	why    string
}

var technologies = []technology{
	{"github.com/jackc/pgx", []string{"internal/store", "internal/pgtest"}, "PostgreSQL is the store's business"},
	{"modernc.org/sqlite", []string{"internal/store"}, "SQLite is the store's business"},
	{"database/sql", []string{"internal/store"}, "SQL is the store's business"},
	{"github.com/pressly/goose", []string{"internal/store"}, "migrations are the store's business"},
	{"github.com/a-h/templ", []string{"internal/cabinet"}, "pages are the cabinet's business"},
	{"github.com/alexedwards/scs", []string{"internal/cabinet"}, "sessions are the cabinet's business"},
	{"github.com/alecthomas/kong", []string{"cmd", "internal/app"}, "flags are read at the door"},
	{"github.com/prometheus/client_golang", []string{"internal/app", "internal/server", "internal/delivery"}, "metrics are kept where requests and deliveries pass"},
	{"github.com/xuri/excelize", nil, "it holds whole files in memory: for reading back in tests only"},
}

func TestTechnologyStaysAtTheRim(t *testing.T) {
	t.Parallel()
	for _, s := range house(t).sources {
		if s.test || within(s.folder, "test") {
			continue
		}
		for _, imported := range s.imports {
			for _, tech := range technologies {
				if within(imported, tech.prefix) && !anyWithin(s.folder, tech.homes) {
					t.Errorf("%s imports %s: %s", s.path, imported, tech.why)
				}
			}
		}
	}
}

func TestInnerPackagesKnowNoHTTP(t *testing.T) {
	t.Parallel()
	inner := []string{"internal/domain", "internal/service", "internal/store", "internal/report"}
	for _, s := range house(t).sources {
		if !s.test && anyWithin(s.folder, inner) && slices.Contains(s.imports, "net/http") {
			t.Errorf("%s imports net/http: requests end at the adapters", s.path)
		}
	}
}

func TestDomainIsPlainGo(t *testing.T) {
	t.Parallel()
	// Normal forms of text are a rule of ours (names are NFC) that the standard library lacks.
	allowed := "golang.org/x/text/unicode/norm"
	world := []string{"os", "os/exec", "net", "net/http", "io/fs", "log", "log/slog", "database/sql", "syscall"}
	for _, s := range house(t).sources {
		if s.test || !within(s.folder, "internal/domain") {
			continue
		}
		for _, imported := range s.imports {
			if !standard(imported) && imported != allowed {
				t.Errorf("%s imports %s: domain is written in the standard library", s.path, imported)
			}
			if slices.Contains(world, imported) {
				t.Errorf("%s imports %s: domain knows no clock and no I/O", s.path, imported)
			}
		}
		for _, call := range calls(s.file, "time", "Now", "Since", "Until", "Sleep", "After", "NewTimer", "NewTicker") {
			t.Errorf("%s calls %s: domain knows no clock; take the time as an argument", s.path, call)
		}
	}
}

func TestOneExit(t *testing.T) {
	t.Parallel()
	for _, s := range house(t).sources {
		if s.test || !within(s.folder, "internal") {
			continue
		}
		exits := append(calls(s.file, "os", "Exit"), calls(s.file, "log", "Fatal", "Fatalf", "Fatalln")...)
		for _, call := range exits {
			t.Errorf("%s calls %s: only cmd ends the program", s.path, call)
		}
	}
}
