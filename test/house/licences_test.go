package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// licences are those that a dependency may have, with a sentence that only its text
// has. All of them let a program be distributed under other terms.
var licences = map[string]string{
	"MIT":                        "permission is hereby granted, free of charge, to any person obtaining a copy of this software",
	"BSD":                        "redistribution and use in source and binary forms, with or without modification, are permitted",
	"Apache-2.0":                 "apache license version 2.0, january 2004",
	"Apache-2.0, by its address": "www.apache.org/licenses/license-2.0",
	"ISC":                        "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee",
	"MPL-2.0":                    "mozilla public license version 2.0", // asks for changes to its own files only
}

// copyleft are the titles of licences that would extend to the whole program.
var copyleft = regexp.MustCompile(`gnu (affero |lesser |library )?general public license|server side public license|business source license`)

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying)`)

// Every module that the program or its tests are built from has a licence that is
// known and that does not extend to the program. The texts come from the module cache.
func TestLicencesOfDependencies(t *testing.T) {
	t.Parallel()
	list := exec.Command("go", "list", "-deps", "-test", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", "./...")
	list.Dir = filepath.Join("..", "..")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("list the modules: %v", err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		module, dir, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if ok && !seen[module] {
			seen[module] = true
			checkLicence(t, module, dir)
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d modules were found", len(seen))
	}
}

func checkLicence(t *testing.T, module, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(strings.ToLower(string(raw))), " ")
		known := knownLicence(text)
		found = found || known != ""
		if known == "" && copyleft.MatchString(text) {
			t.Errorf("%s: %s is a licence that extends to the whole program. Use another library.", module, e.Name())
		}
	}
	if !found {
		t.Errorf("%s has no licence that this test knows. Read it, and add it here if the program may be distributed with it.", module)
	}
}

func knownLicence(text string) string {
	for name, sentence := range licences {
		if strings.Contains(text, sentence) {
			return name
		}
	}
	return ""
}

// The check refuses what it must.
func TestCopyleftIsNotKnown(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"gnu general public license version 3, 29 june 2007", "gnu affero general public license version 3", "gnu lesser general public license",
	} {
		if knownLicence(text) != "" || !copyleft.MatchString(text) {
			t.Errorf("%q is taken for a licence that may be used", text)
		}
	}
}
