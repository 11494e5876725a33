package api_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/api"
)

// The guide for integrators has one row for each error code of the contract.
func TestGuideListsEveryErrorCode(t *testing.T) {
	t.Parallel()
	var doc struct {
		Components struct {
			Schemas struct {
				ErrorCode struct {
					Codes []string `json:"x-extensible-enum"`
				}
			}
		}
	}
	if err := json.Unmarshal(api.PublicAt("").JSON, &doc); err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, row := range regexp.MustCompile("(?m)^\\| [45][0-9]{2} \\| `([a-z_]+)` \\| .+ \\|$").FindAllSubmatch(guide, -1) {
		listed = append(listed, string(row[1]))
	}
	codes := doc.Components.Schemas.ErrorCode.Codes
	slices.Sort(codes)
	slices.Sort(listed)
	if diff := cmp.Diff(codes, listed); diff != "" {
		t.Errorf("codes in the contract (-) and in docs/errors.md (+):\n%s", diff)
	}
}
