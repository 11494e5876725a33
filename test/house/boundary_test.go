package house

import (
	"slices"
	"testing"
)

// technology names the folders that may import a library.
type technology struct {
	prefix  string
	folders []string
	reason  string
}

var technologies = []technology{
	{"github.com/jackc/pgx", []string{"internal/store", "internal/pgtest"}, "PostgreSQL is used only by the store"},
	{"modernc.org/sqlite", []string{"internal/store"}, "SQLite is used only by the store"},
	{"database/sql", []string{"internal/store"}, "SQL is used only by the store"},
	{"github.com/pressly/goose", []string{"internal/store"}, "migrations are run only by the store"},
	{"github.com/a-h/templ", []string{"internal/cabinet"}, "pages are rendered only by the cabinet"},
	{"github.com/yuin/goldmark", []string{"internal/cabinet/docsite"}, "Markdown is rendered only for the documentation"},
	{"github.com/alexedwards/scs", []string{"internal/cabinet"}, "sessions are used only by the cabinet"},
	{"github.com/alecthomas/kong", []string{"cmd", "internal/app"}, "flags are read only at the start"},
	{"github.com/prometheus/client_golang", []string{"internal/app", "internal/server", "internal/delivery"}, "metrics are recorded only where requests and deliveries pass"},
	{"github.com/xuri/excelize", nil, "it holds whole files in memory, so only tests use it, to read files back"},
}

func TestLibrariesStayInTheirFolders(t *testing.T) {
	t.Parallel()
	for _, s := range repository(t).sources {
		if s.test || within(s.folder, "test") {
			continue
		}
		for _, imported := range s.imports {
			for _, tech := range technologies {
				if within(imported, tech.prefix) && !anyWithin(s.folder, tech.folders) {
					t.Errorf("%s imports %s: %s", s.path, imported, tech.reason)
				}
			}
		}
	}
}

func TestInnerPackagesKnowNoHTTP(t *testing.T) {
	t.Parallel()
	inner := []string{"internal/domain", "internal/service", "internal/store", "internal/report"}
	for _, s := range repository(t).sources {
		if !s.test && anyWithin(s.folder, inner) && slices.Contains(s.imports, "net/http") {
			t.Errorf("%s imports net/http: only adapters know HTTP", s.path)
		}
	}
}

func TestDomainIsPlainGo(t *testing.T) {
	t.Parallel()
	// Names are stored in Unicode form NFC, which the standard library does not provide.
	allowed := "golang.org/x/text/unicode/norm"
	forbidden := []string{"os", "os/exec", "net", "net/http", "io/fs", "log", "log/slog", "database/sql", "syscall"}
	for _, s := range repository(t).sources {
		if s.test || !within(s.folder, "internal/domain") {
			continue
		}
		for _, imported := range s.imports {
			if !isStandard(imported) && imported != allowed {
				t.Errorf("%s imports %s: domain uses only the standard library", s.path, imported)
			}
			if slices.Contains(forbidden, imported) {
				t.Errorf("%s imports %s: domain does no I/O", s.path, imported)
			}
		}
		for _, call := range findCalls(s.file, "time", "Now", "Since", "Until", "Sleep", "After", "NewTimer", "NewTicker") {
			t.Errorf("%s calls %s: domain does not read the clock; take the time as a parameter", s.path, call)
		}
	}
}

func TestOnlyCmdExits(t *testing.T) {
	t.Parallel()
	for _, s := range repository(t).sources {
		if s.test || !within(s.folder, "internal") {
			continue
		}
		exits := append(findCalls(s.file, "os", "Exit"), findCalls(s.file, "log", "Fatal", "Fatalf", "Fatalln")...)
		for _, call := range exits {
			t.Errorf("%s calls %s: only cmd ends the program", s.path, call)
		}
	}
}
