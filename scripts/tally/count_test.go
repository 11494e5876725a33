package main

import (
	"strings"
	"testing"
)

func TestCount(t *testing.T) {
	t.Parallel()
	const pass = `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"output of a passing test\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.1}
`
	for name, c := range map[string]struct {
		events string
		broken bool
		code   int
		last   string
		shows  []string
		hides  []string
	}{
		"output of a passing test is hidden": {
			events: pass + `{"Action":"pass","Package":"p","Elapsed":1.5}`,
			last:   "1 passed, 0 failed",
			shows:  []string{"ok    p  1.5s  1 passed"},
			hides:  []string{"output of a passing test"},
		},
		"a failure is shown in full": {
			events: pass + `{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"=== printed by the test\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:1: wrong\n"}
{"Action":"fail","Package":"p","Test":"TestB","Elapsed":0.1}
{"Action":"fail","Package":"p","Elapsed":1}`,
			code:  1,
			last:  "1 passed, 1 failed",
			shows: []string{"b_test.go:1: wrong", "=== printed by the test", "FAIL  p", "failed:\n  p TestB\n"},
			hides: []string{"output of a passing test", "=== RUN"},
		},
		"subtests are counted instead of their parent": {
			events: `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestA/x/y"}
{"Action":"run","Package":"p","Test":"TestA/z"}
{"Action":"pass","Package":"p","Test":"TestA/x/y"}
{"Action":"fail","Package":"p","Test":"TestA/z"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}`,
			code: 1,
			last: "1 passed, 1 failed",
		},
		"a parent that fails alone is counted": {
			events: `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestA/x"}
{"Action":"pass","Package":"p","Test":"TestA/x"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}`,
			code: 1,
			last: "1 passed, 1 failed",
		},
		"a test that never ended has failed": {
			events: pass + `{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Output":"panic: test timed out after 1s\n"}
{"Action":"fail","Package":"p","Elapsed":1}`,
			code:  1,
			last:  "1 passed, 1 failed",
			shows: []string{"panic: test timed out"},
		},
		"a package that does not build has failed": {
			events: `{"ImportPath":"p [p.test]","Action":"build-output","Output":"p_test.go:3: undefined: x\n"}
{"ImportPath":"p [p.test]","Action":"build-fail"}
{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`,
			broken: true,
			code:   1,
			last:   "0 passed, 1 failed",
			shows:  []string{"undefined: x"},
		},
		"a package that exits badly after its tests has failed": {
			events: pass + `{"Action":"output","Package":"p","Output":"goleak: found goroutine\n"}
{"Action":"fail","Package":"p"}`,
			code:  1,
			last:  "1 passed, 1 failed",
			shows: []string{"goleak"},
		},
		"a package that never ended has failed": {
			events: pass, broken: true, code: 1, last: "1 passed, 1 failed",
		},
		"an error of go test itself is a failure": {
			events: pass + `{"Action":"pass","Package":"p"}`, broken: true, code: 1, last: "1 passed, 1 failed",
		},
		"a run without tests is a failure": {
			events: `{"Action":"skip","Package":"p"}`, code: 1, last: "0 passed, 1 failed",
		},
		"skipped tests are reported": {
			events: pass + `{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"pass","Package":"p"}`,
			last:  "1 passed, 0 failed",
			shows: []string{"1 skipped\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			count := newCount(&out)
			if err := count.read(strings.NewReader(c.events)); err != nil {
				t.Fatal(err)
			}
			if code := count.close(!c.broken); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if !strings.HasSuffix(out.String(), "\n"+c.last+"\n") {
				t.Errorf("last line is not %q:\n%s", c.last, out.String())
			}
			for _, s := range c.shows {
				if !strings.Contains(out.String(), s) {
					t.Errorf("does not show %q:\n%s", s, out.String())
				}
			}
			for _, s := range c.hides {
				if strings.Contains(out.String(), s) {
					t.Errorf("shows %q:\n%s", s, out.String())
				}
			}
		})
	}
}
