package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	got := split([]string{"-race", "./a", "--", "./b", "./c"})
	if diff := cmp.Diff([][]string{{"-race", "./a"}, {"./b", "./c"}}, got); diff != "" {
		t.Errorf("split (-want +got):\n%s", diff)
	}
}
