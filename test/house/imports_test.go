package house

import (
	"maps"
	"slices"
	"testing"
)

// rule says which packages of ours a package may import, and why no others.
type rule struct {
	may []string
	why string
}

const (
	anything = "*"
	adapter  = "an adapter turns requests into calls of service; adapters never import one another"
	engine   = "an engine opens a database and gives the values in which it differs"
	support  = "it serves tests only"
)

// rules is the table of the architecture: arrows point inward. A row stands for
// its package alone; what lies below has rows of its own. Test files are free.
var rules = map[string]rule{
	"cmd/coursebridge": {[]string{"internal/app"}, "arguments in, exit code out; all else is wired in app"},

	"internal/app":  {[]string{anything}, ""},
	"internal/demo": {[]string{"internal/domain", "internal/service"}, adapter},

	"internal/publicapi":        {[]string{"internal/domain", "internal/service", "internal/httpapi", "api", "api/v1"}, adapter},
	"internal/platformapi":      {[]string{"internal/domain", "internal/service", "internal/httpapi", "api", "api/v1"}, adapter},
	"internal/cabinet":          {[]string{"internal/domain", "internal/service", "internal/report", "internal/httpapi"}, adapter},
	"internal/cabinet/view":     {nil, "a page draws what was decided before; it fetches nothing"},
	"internal/cabinet/assets":   {nil, "it is built files"},
	"internal/cabinet/snippets": {nil, "it is programs that people paste"},
	"internal/delivery":         {[]string{"internal/batch", "internal/domain", "internal/service"}, adapter},

	"internal/httpapi": {[]string{"internal/domain", "api/v1"}, "it is the JSON that both APIs share, and the one mapping of errors to HTTP"},

	"internal/service": {[]string{"internal/domain", "internal/report"}, "the use cases know the nouns and fill report files; what else they call, they declare as interfaces"},
	"internal/secret":  {nil, "it seals bytes, whatever they are"},
	"internal/domain":  {nil, "the nouns and their rules import nothing of ours"},

	"internal/batch": {nil, "it runs calls together, whatever they do"},

	"internal/store": {[]string{
		"internal/batch", "internal/domain", "internal/store/db", "internal/store/sqlite", "internal/store/postgres",
	}, "the SQL knows the nouns, a narrow db and how to open an engine; service is never below it"},
	"internal/store/db":         {[]string{"internal/domain"}, "it is what store needs of an engine, and holds no SQL of a noun"},
	"internal/store/sqlite":     {[]string{"internal/domain", "internal/store/db", "internal/store/migrations"}, engine},
	"internal/store/postgres":   {[]string{"internal/domain", "internal/store/db", "internal/store/migrations"}, engine},
	"internal/store/migrations": {nil, "it is the schema's text"},

	"internal/report": {nil, "it writes rows to an io.Writer, whatever they are of"},
	"internal/server": {[]string{"internal/domain", "internal/httpapi"}, "it carries any handler and knows how errors are answered"},
	"api":             {nil, "it is the contract's text"},
	"api/v1":          {nil, "it is the contract's words, and clients import it"},

	"internal/apptest": {[]string{anything}, support},
	"internal/pgtest":  {nil, "it gives databases and knows no schema"},
	"internal/store/storetest": {[]string{
		"internal/domain", "internal/pgtest", "internal/store", "internal/store/db",
		"internal/store/migrations", "internal/store/postgres", "internal/store/sqlite",
	}, "it is the store's specification, and stands on the store alone"},
}

// testOnly are packages that only tests, and one another, may import.
var testOnly = []string{"internal/apptest", "internal/pgtest", "internal/store/storetest"}

// ownRoom are folders outside the table: black-box suites, tools.
var ownRoom = []string{"test", "scripts"}

func TestImportsFollowTheTable(t *testing.T) {
	t.Parallel()
	for _, s := range house(t).sources {
		for _, broken := range against(s) {
			t.Error(broken)
		}
	}
}

// against holds one file against the table.
func against(s source) (broken []string) {
	if s.test || anyWithin(s.folder, ownRoom) {
		return nil
	}
	r, found := ruleOf(s.folder)
	if !found {
		return []string{s.path + ": no row for " + s.folder + " in the import table (test/house): say what it may import, and why"}
	}
	for _, imported := range s.imports {
		target, mine := ours(imported)
		if mine && !slices.Contains(r.may, target) && !slices.Contains(r.may, anything) && !sameRoom(s.folder, target) {
			broken = append(broken, s.path+" imports "+target+": "+r.why)
		}
	}
	return broken
}

func TestTheTableBites(t *testing.T) {
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
		if got := against(tr.sources[0]); (len(got) > 0) != c.broken {
			t.Errorf("%s imports %s: found %q", c.path, c.imports, got)
		}
	}
}

// ruleOf finds a package's row: its own, or that of the adapter whose room it is
// in (internal/cabinet/view follows internal/cabinet).
func ruleOf(folder string) (rule, bool) {
	if r, found := rules[folder]; found {
		return r, true
	}
	for _, row := range slices.Sorted(maps.Keys(rules)) {
		if rooms[row] && within(folder, row) {
			return rules[row], true
		}
	}
	return rule{}, false
}

// rooms are packages that may be divided further without a row for each part.
var rooms = map[string]bool{"internal/app": true, "internal/cabinet": true, "internal/demo": true}

// sameRoom lets a room's parts import one another and their parent its parts.
func sameRoom(folder, target string) bool {
	for room := range rooms {
		if within(folder, room) && within(target, room) {
			return true
		}
	}
	return false
}

func TestTestPackagesStayInTests(t *testing.T) {
	t.Parallel()
	for _, s := range house(t).sources {
		if s.test || within(s.folder, "test") || slices.Contains(testOnly, s.folder) {
			continue
		}
		for _, imported := range s.imports {
			target, _ := ours(imported)
			if slices.Contains(testOnly, target) || imported == "testing" {
				t.Errorf("%s imports %s: %s, and would end up in the program", s.path, imported, support)
			}
		}
	}
}

func TestRowsOfTheTableAreSound(t *testing.T) {
	t.Parallel()
	for folder, r := range rules {
		for _, target := range r.may {
			if _, known := rules[target]; target != anything && !known {
				t.Errorf("the row of %s allows %s, which has no row", folder, target)
			}
		}
	}
}

func anyWithin(folder string, bases []string) bool {
	return slices.ContainsFunc(bases, func(base string) bool { return within(folder, base) })
}
