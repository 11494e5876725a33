package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// event is one line of go test -json (go doc test2json).
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build-output and build-fail, in place of Package
	Test        string
	Elapsed     float64
	Output      string
	FailedBuild string
}

// count adds up the results of all packages. Several runs may be read at once.
type count struct {
	mu       sync.Mutex
	out      io.Writer
	packages map[string]*pkg
	builds   map[string]*strings.Builder
	passed   int
	skipped  int
	failed   []string
}

// pkg is a package whose tests are running.
type pkg struct {
	tests  map[string]*test
	output strings.Builder
}

type test struct {
	outcome  string // empty while it runs
	children int
	output   strings.Builder
}

// frame matches the lines that go test prints when it switches between tests.
var frame = regexp.MustCompile(`^=== (RUN|PAUSE|CONT|NAME) +`)

func newCount(out io.Writer) *count {
	return &count{out: out, packages: map[string]*pkg{}, builds: map[string]*strings.Builder{}}
}

func (c *count) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			c.line(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// line reads one event. A line that is not JSON is an error message of go
// itself: it is printed as it is.
func (c *count) line(line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var e event
	if json.Unmarshal(line, &e) != nil {
		_, _ = c.out.Write(line)
		return
	}
	switch {
	case e.Action == "build-output":
		c.build(e.ImportPath).WriteString(e.Output)
	case e.Package == "":
	case e.Test == "":
		c.packageEvent(e)
	default:
		c.testEvent(e)
	}
}

func (c *count) build(path string) *strings.Builder {
	if c.builds[path] == nil {
		c.builds[path] = &strings.Builder{}
	}
	return c.builds[path]
}

func (c *count) pkg(name string) *pkg {
	if c.packages[name] == nil {
		c.packages[name] = &pkg{tests: map[string]*test{}}
	}
	return c.packages[name]
}

func (c *count) testEvent(e event) {
	p := c.pkg(e.Package)
	t := p.tests[e.Test]
	if t == nil {
		t = &test{}
		p.tests[e.Test] = t
		if parent, ok := p.parent(e.Test); ok {
			parent.children++
		}
	}
	switch e.Action {
	case "output":
		if !frame.MatchString(e.Output) {
			t.output.WriteString(e.Output)
		}
	case "pass", "fail", "skip":
		t.outcome = e.Action
	}
}

// parent returns the test that a subtest belongs to. Names of subtests may
// contain slashes, so the parent is the longest prefix that is a test.
func (p *pkg) parent(name string) (*test, bool) {
	for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
		if t := p.tests[name[:i]]; t != nil {
			return t, true
		}
	}
	return nil, false
}

func (c *count) packageEvent(e event) {
	p := c.pkg(e.Package)
	switch e.Action {
	case "output":
		p.output.WriteString(e.Output)
	case "pass", "fail", "skip":
		c.closePackage(e.Package, p, e)
		delete(c.packages, e.Package)
	}
}

// closePackage counts a package's tests. Only the subtests of a test are
// counted, unless the test failed and none of its subtests did. A package that
// failed although all of its tests passed (it does not build, or it exits with
// an error after the tests) counts as one failure.
func (c *count) closePackage(name string, p *pkg, e event) {
	failed, passed := len(c.failed), c.passed
	through := p.through()
	for _, id := range slices.Sorted(maps.Keys(p.tests)) {
		t := p.tests[id]
		switch {
		case t.failed():
			c.print(t.output.String())
			if !through[t] {
				c.failed = append(c.failed, name+" "+id)
			}
		case t.children > 0:
		case t.outcome == "skip":
			c.skipped++
		default:
			c.passed++
		}
	}
	if e.Action != "fail" {
		if len(p.tests) > 0 {
			fmt.Fprintf(c.out, "ok    %s  %.1fs  %d passed\n", name, e.Elapsed, c.passed-passed)
		}
		return
	}
	if e.FailedBuild != "" {
		c.print(c.build(e.FailedBuild).String())
	}
	c.print(p.output.String())
	if len(c.failed) == failed {
		c.failed = append(c.failed, name)
	}
	fmt.Fprintf(c.out, "FAIL  %s  %.1fs\n", name, e.Elapsed)
}

// through returns the tests that have a failed subtest, which is counted in
// their place.
func (p *pkg) through() map[*test]bool {
	through := map[*test]bool{}
	for id, t := range p.tests {
		if parent, ok := p.parent(id); ok && t.failed() {
			through[parent] = true
		}
	}
	return through
}

// failed reports whether the test failed. A test that never ended was cut off by
// a panic in another test or by the time limit, and has failed too.
func (t *test) failed() bool { return t.outcome == "fail" || t.outcome == "" }

func (c *count) print(output string) {
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	_, _ = io.WriteString(c.out, output)
}

// close prints the totals and returns the exit code. clean is false if go test
// itself returned an error.
func (c *count) close(clean bool) int {
	for _, name := range slices.Sorted(maps.Keys(c.packages)) {
		c.closePackage(name, c.packages[name], event{Action: "fail"})
	}
	switch {
	case !clean && len(c.failed) == 0:
		c.failed = append(c.failed, "go test itself (its message is above)")
	case c.passed+c.skipped+len(c.failed) == 0:
		c.failed = append(c.failed, "no test was run")
	}
	if len(c.failed) > 0 {
		c.print("\nfailed:\n  " + strings.Join(c.failed, "\n  "))
	}
	if c.skipped > 0 {
		fmt.Fprintf(c.out, "%d skipped\n", c.skipped)
	}
	fmt.Fprintf(c.out, "%d passed, %d failed\n", c.passed, len(c.failed))
	if len(c.failed) > 0 {
		return 1
	}
	return 0
}
