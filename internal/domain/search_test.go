package domain_test

import (
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestFoldingForSearches(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ in, name, last string }{
		{"Anna Karenina", "anna karenina", "karenina anna"},
		{"  ANNA   maria  Karenina ", "anna maria karenina", "karenina anna maria"},
		{"Plato", "plato", ""},
		{"ОЛЬГА Шмидт", "ольга шмидт", "шмидт ольга"},
		{"Zoe\u0308 Nu\u0301n\u0303ez", "zoë núñez", "núñez zoë"},
		{"", "", ""},
	} {
		if got := domain.FoldName(row.in); got != row.name {
			t.Errorf("FoldName(%q) = %q, want %q", row.in, got, row.name)
		}
		if got := domain.FoldLastName(row.in); got != row.last {
			t.Errorf("FoldLastName(%q) = %q, want %q", row.in, got, row.last)
		}
	}
	if got := domain.FoldID("Emp-ÄÖ7"); got != "emp-ÄÖ7" {
		t.Errorf("FoldID changed more than the letters A to Z: %q", got)
	}
	if !domain.MatchesSearch("SAFE", "Workplace safety") || domain.MatchesSearch("afe", "Workplace safety") {
		t.Error("MatchesSearch must compare the beginnings of words, whatever the case")
	}
}
