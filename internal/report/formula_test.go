package report

import (
	"strings"
	"testing"
)

// A file for Excel holds no formula, also if it is split at semicolons.
func TestSemicolonsAreGuardedForExcel(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"x;=1+1": "x;'=1+1", "x; @SUM(1)": "x;' @SUM(1)", "a;b": "a;b", "=1;-2": "'=1;'-2", "a;;+1": "a;;'+1", "a;": "a;",
	} {
		columns := []Column{{Name: "text", Kind: KindText}}
		if got := writeCSV(t, columns, nil, true, []Cell{Text(text)}); !strings.HasSuffix(got, "text\r\n"+want+"\r\n") {
			t.Errorf("%q with a byte order mark: %q, want %q", text, got, want)
		}
	}
	columns := []Column{{Name: "text", Kind: KindText}}
	if got := writeCSV(t, columns, nil, false, []Cell{Text("x;=1+1")}); got != "text\r\nx;=1+1\r\n" {
		t.Errorf("without a byte order mark: %q", got)
	}
}

func TestGuardFormula(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "Anna": "Anna", "=1+1": "'=1+1", "\t=1": "'\t=1", " -2": "' -2", "x;=1+1": "x;'=1+1", "\uFF1D1": "'\uFF1D1", "a;b": "a;b",
	} {
		if got := GuardFormula(in); got != want {
			t.Errorf("GuardFormula(%q) is %q, want %q", in, got, want)
		}
	}
}
