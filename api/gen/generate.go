package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/ogen-go/ogen"
	"github.com/ogen-go/ogen/gen"
)

const ogenModule = "github.com/ogen-go/ogen"

// output collects generated files by name. ogen writes them concurrently.
type output struct {
	mu    sync.Mutex
	files map[string][]byte
}

// WriteFile implements the file system that ogen writes to.
func (o *output) WriteFile(name string, content []byte) error {
	source, err := format.Source(pooledEncoder(withoutCORS(content)))
	if err != nil {
		return fmt.Errorf("format %s: %w", name, err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.files[name] = source
	return nil
}

// withoutCORS drops the header by which ogen announces typed headers to pages
// of other origins: these APIs are for servers and offer no CORS.
func withoutCORS(source []byte) []byte {
	var kept []byte
	for line := range bytes.Lines(source) {
		if !bytes.Contains(line, []byte(`"Access-Control-Expose-Headers"`)) {
			kept = append(kept, line...)
		}
	}
	return kept
}

func generate(spec []byte) (*output, error) {
	parsed, err := ogen.Parse(spec)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	g, err := gen.NewGenerator(parsed, gen.Options{
		Generator: gen.GenerateOptions{
			Features: &gen.FeatureOptions{
				DisableAll: true,
				Enable: gen.FeatureSet{
					gen.PathsServer.Name:            {},
					gen.NamingCamelInitialisms.Name: {},
				},
			},
			ConvenientErrors: 1,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	out := &output{files: map[string][]byte{}}
	if err := g.WriteSource(out, "oas"); err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	return out, nil
}

// write replaces the generated files of dir.
func (o *output) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	old, err := generated(dir)
	if err != nil {
		return err
	}
	for _, name := range old {
		if _, keep := o.files[name]; keep {
			continue
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	for name, content := range o.files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compare reports every file of dir that is not what would be written.
func (o *output) compare(dir string) error {
	old, err := generated(dir)
	if err != nil {
		return err
	}
	var stale []string
	for _, name := range old {
		if _, ok := o.files[name]; !ok {
			stale = append(stale, name)
		}
	}
	for name, content := range o.files {
		have, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !bytes.Equal(have, content) {
			stale = append(stale, name)
		}
	}
	if len(stale) == 0 {
		return nil
	}
	slices.Sort(stale)
	return fmt.Errorf("not fresh, generate again: %s", strings.Join(stale, ", "))
}

func generated(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), "_gen.go") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// sameOgen keeps the generator and the runtime that the product links at one
// version: they are two modules, so nothing else does.
func sameOgen(gomod string) error {
	data, err := os.ReadFile(gomod)
	if err != nil {
		return err
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return errors.New("no build information")
	}
	for _, dep := range info.Deps {
		if dep.Path != ogenModule {
			continue
		}
		if !strings.Contains(string(data), ogenModule+" "+dep.Version) {
			return fmt.Errorf("the generator is %s %s, %s has another version", ogenModule, dep.Version, gomod)
		}
		return nil
	}
	return fmt.Errorf("%s is not linked", ogenModule)
}

// pooledEncoder has answers encoded in buffers that are used again: they are
// most of what a request allocates.
func pooledEncoder(source []byte) []byte {
	return bytes.ReplaceAll(source, []byte("e := new(jx.Encoder)\n"), []byte("e := jx.GetEncoder()\n\tdefer jx.PutEncoder(e)\n"))
}
