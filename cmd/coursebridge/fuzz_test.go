package main

import (
	"strings"
	"testing"
)

// A configuration file sets nothing but known settings.
func FuzzParseConfig(f *testing.F) {
	for _, seed := range []string{"listen: 1.2.3.4:80", "listen = x # y", "---\ntrusted-proxy:\n  - a\n  - b\n", "listen: \"a", "listen: [", "listen: []", "- x", ":", "listen"} {
		f.Add(seed)
	}
	known := map[string]string{"listen": "COURSEBRIDGE_LISTEN", "trusted-proxy": "COURSEBRIDGE_TRUSTED_PROXY"}
	f.Fuzz(func(t *testing.T, text string) {
		settings, err := parseConfig(strings.NewReader(text), known)
		if err != nil {
			return
		}
		for name := range settings.values {
			if _, ok := known[name]; !ok {
				t.Errorf("%q sets %q", text, name)
			}
		}
	})
}
