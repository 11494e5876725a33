// Command gen writes the server code of both contracts with ogen. What belongs
// here is the step from a published document to generated code and nothing
// that runs in the product; therefore it is a module of its own, and the
// product does not carry the generator's dependencies.
//
//	go run -C api/gen .          write the generated packages
//	go run -C api/gen . -check   fail if they differ from what would be written
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// A contract is a published document and the package generated from it, both
// relative to the repository's root.
type contract struct {
	document string
	target   string
	overlay  overlay
}

var contracts = []contract{
	{
		document: "api/openapi.yaml",
		target:   "internal/publicapi/oas",
		overlay: overlay{
			// The router prefers a fixed segment to a parameter and then has no
			// way back, so an employee whose externalId is "provision" would be
			// answered 405. The adapter rewrites the one POST instead.
			Rename:  map[string]string{"/employees/provision": "/employees-provision"},
			Headers: []string{"Link", "X-Sync-Watermark"},
		},
	},
	{
		document: "api/platform.yaml",
		target:   "internal/platformapi/oas",
	},
}

func main() {
	check := flag.Bool("check", false, "compare instead of write, and fail on a difference")
	root := flag.String("root", "../..", "the repository's `directory`")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	if err := sameOgen(filepath.Join(root, "go.mod")); err != nil {
		return err
	}
	for _, c := range contracts {
		if err := c.build(root, check); err != nil {
			return fmt.Errorf("%s: %w", c.document, err)
		}
	}
	return nil
}

func (c contract) build(root string, check bool) error {
	data, err := os.ReadFile(filepath.Join(root, c.document))
	if err != nil {
		return err
	}
	spec, err := c.overlay.apply(data)
	if err != nil {
		return fmt.Errorf("overlay: %w", err)
	}
	files, err := generate(spec)
	if err != nil {
		return err
	}
	target := filepath.Join(root, c.target)
	if check {
		return files.compare(target)
	}
	return files.write(target)
}
