package house

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// Every fuzz target has a corpus in the repository, so that make test runs more than its
// seeds and findings have a place to go to.
func TestFuzzTargetsHaveACorpus(t *testing.T) {
	t.Parallel()
	tr, err := loadTree()
	if err != nil {
		t.Fatal(err)
	}
	targets := 0
	for _, f := range tr.files {
		for _, found := range fuzzTarget.FindAllStringSubmatch(f.text, -1) {
			targets++
			folder := filepath.Join(filepath.Dir(filepath.FromSlash(f.path)), "testdata", "fuzz", found[1])
			if entries, err := os.ReadDir(filepath.Join("..", "..", folder)); err != nil || len(entries) == 0 {
				t.Errorf("%s has no corpus in %s: commit what the fuzzer finds, or inputs of your own", found[1], folder)
			}
		}
	}
	if targets < 20 {
		t.Errorf("%d fuzz targets were found, want all of them", targets)
	}
}
