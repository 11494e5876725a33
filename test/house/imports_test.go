package house

import (
	"maps"
	"slices"
	"testing"
)

// rule lists the packages of this module that a package may import, with the
// reason why it may import no others.
type rule struct {
	allowed []string
	reason  string
}

const (
	anything = "*"
	adapter  = "an adapter turns requests into calls of service; adapters never import one another"
	engine   = "an engine opens a database and provides the values in which it differs from the other"
	support  = "it serves tests only"
)

// rules is the import table of the architecture: arrows point inward. A row applies
// to its package only; packages below it have their own rows. Test files may
// import anything.
var rules = map[string]rule{
	"cmd/coursebridge": {[]string{"internal/app"}, "it turns arguments into an exit code; everything else is wired in app"},

	"internal/app":  {[]string{anything}, ""},
	"internal/demo": {[]string{"internal/domain", "internal/service", "client"}, adapter + "; it receives webhooks with client, as customers do"},

	"internal/publicapi":        {[]string{"internal/domain", "internal/service", "internal/httpapi", "internal/transfer", "api", "api/v1"}, adapter},
	"internal/platformapi":      {[]string{"internal/domain", "internal/service", "internal/httpapi", "api", "api/v1"}, adapter},
	"internal/cabinet":          {[]string{"internal/domain", "internal/service", "internal/report", "internal/httpapi", "internal/transfer"}, adapter},
	"internal/cabinet/view":     {nil, "a page only renders values that it is given; it fetches nothing"},
	"internal/cabinet/assets":   {nil, "it only embeds built files"},
	"internal/cabinet/snippets": {nil, "it holds example programs that people copy"},
	"internal/delivery":         {[]string{"internal/batch", "internal/domain", "internal/service"}, adapter},

	"internal/httpapi": {[]string{"internal/domain", "api/v1"}, "it is the JSON that both APIs share, and the one mapping of errors to HTTP"},

	"internal/service": {[]string{"internal/domain", "internal/report", "internal/sheet"}, "the use cases know the nouns and fill report files; what else they call, they declare as interfaces"},
	"internal/secret":  {nil, "it encrypts bytes and does not know what they mean"},
	"internal/domain":  {nil, "the nouns and their rules import nothing of ours"},

	"internal/batch":    {nil, "it runs calls together, whatever they do"},
	"internal/transfer": {nil, "it counts bytes and does not know what they mean"},

	"internal/store": {[]string{
		"internal/batch", "internal/domain", "internal/store/db", "internal/store/sqlite", "internal/store/postgres",
	}, "the SQL knows the nouns, a narrow db and how to open an engine; service is never below it"},
	"internal/store/db":         {[]string{"internal/domain"}, "it is what store needs of an engine, and holds no SQL of a noun"},
	"internal/store/sqlite":     {[]string{"internal/domain", "internal/store/db", "internal/store/migrations"}, engine},
	"internal/store/postgres":   {[]string{"internal/batch", "internal/domain", "internal/store/db", "internal/store/migrations"}, engine},
	"internal/store/migrations": {nil, "it holds the text of the schema"},

	"internal/sheet":  {nil, "it reads tables and does not know what they mean"},
	"internal/report": {nil, "it writes rows to an io.Writer and does not know what they mean"},
	"internal/server": {[]string{"internal/domain", "internal/httpapi", "internal/transfer"}, "it carries any handler and knows how errors are answered"},
	".":               {nil, "it is the documentation's text"},
	"api":             {nil, "it is the contract's text"},
	"api/v1":          {nil, "it is the contract's words, and clients import it"},
	"client":          {[]string{"api/v1"}, "it calls the API from other programs, and knows only the contract"},

	"internal/apptest":  {[]string{anything}, support},
	"internal/apicheck": {[]string{"api"}, "it compares answers with the documents, and knows nothing of the code that answers"},
	"internal/pgtest":   {nil, "it creates empty databases and knows no schema"},
	"internal/store/storetest": {[]string{
		"internal/domain", "internal/pgtest", "internal/store", "internal/store/db",
		"internal/store/migrations", "internal/store/postgres", "internal/store/sqlite",
	}, "it is the specification of the store and depends on nothing above it"},
}

// testOnly lists the packages that only tests, and each other, may import.
var testOnly = []string{"internal/apicheck", "internal/apptest", "internal/pgtest", "internal/store/storetest"}

// exempt lists the folders that the table does not cover: black-box suites and
// tools.
var exempt = []string{"test", "scripts"}

func TestImportsFollowTheTable(t *testing.T) {
	t.Parallel()
	for _, s := range repository(t).sources {
		for _, broken := range violations(s) {
			t.Error(broken)
		}
	}
}

// violations returns the imports of one file that the table does not allow.
func violations(s source) (broken []string) {
	if s.test || anyWithin(s.folder, exempt) {
		return nil
	}
	r, found := ruleOf(s.folder)
	if !found {
		return []string{s.path + ": there is no row for " + s.folder + " in the import table (test/house): add one with what it may import, and why"}
	}
	for _, imported := range s.imports {
		target, mine := folderOf(imported)
		if mine && !slices.Contains(r.allowed, target) && !slices.Contains(r.allowed, anything) && !withinDivided(s.folder, target) {
			broken = append(broken, s.path+" imports "+target+": "+r.reason)
		}
	}
	return broken
}

func TestTheTableFindsViolations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, imports string
		broken        bool
	}{
		{"cmd/coursebridge/main.go", "internal/app", false},
		{"cmd/coursebridge/main.go", "internal/store", true},
		{"internal/app/app.go", "internal/store/sqlite", false},
		{"internal/publicapi/employee.go", "internal/service", false},
		{"internal/publicapi/employee.go", "internal/cabinet", true},
		{"internal/cabinet/page/employee.go", "internal/publicapi", true},
		{"internal/cabinet/employee.go", "internal/cabinet/page", false},
		{"internal/service/employee.go", "internal/store", true},
		{"internal/service/employee_test.go", "internal/store", false},
		{"internal/store/employee.go", "internal/service", true},
		{"internal/domain/employee.go", "internal/report", true},
		{"internal/novelty/novelty.go", "internal/domain", true},
	} {
		tr := &tree{}
		if err := tr.add(c.path, "package x\n\nimport \""+module+"/"+c.imports+"\"\n"); err != nil {
			t.Fatal(err)
		}
		if got := violations(tr.sources[0]); (len(got) > 0) != c.broken {
			t.Errorf("%s imports %s: found %q", c.path, c.imports, got)
		}
	}
}

// ruleOf returns the row of a package. Without one of its own, the row of the
// divided package above it applies.
func ruleOf(folder string) (rule, bool) {
	if r, found := rules[folder]; found {
		return r, true
	}
	for _, row := range slices.Sorted(maps.Keys(rules)) {
		if divided[row] && within(folder, row) {
			return rules[row], true
		}
	}
	return rule{}, false
}

// divided holds the packages that may have subpackages without rows of their own.
var divided = map[string]bool{"internal/app": true, "internal/cabinet": true, "internal/demo": true}

// withinDivided reports whether both folders are parts of the same divided
// package, which may import each other.
func withinDivided(folder, target string) bool {
	for parent := range divided {
		if within(folder, parent) && within(target, parent) {
			return true
		}
	}
	return false
}

func TestTestPackagesStayInTests(t *testing.T) {
	t.Parallel()
	for _, s := range repository(t).sources {
		if s.test || within(s.folder, "test") || slices.Contains(testOnly, s.folder) {
			continue
		}
		for _, imported := range s.imports {
			target, _ := folderOf(imported)
			if slices.Contains(testOnly, target) || imported == "testing" {
				t.Errorf("%s imports %s: %s, and would end up in the program", s.path, imported, support)
			}
		}
	}
}

func TestRowsNameKnownPackages(t *testing.T) {
	t.Parallel()
	for folder, r := range rules {
		for _, target := range r.allowed {
			if _, known := rules[target]; target != anything && !known {
				t.Errorf("the row of %s allows %s, which has no row", folder, target)
			}
		}
	}
}

// anyWithin reports whether a folder is one of bases or lies below one.
func anyWithin(folder string, bases []string) bool {
	return slices.ContainsFunc(bases, func(base string) bool { return within(folder, base) })
}
