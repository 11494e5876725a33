package domain

import "strings"

// Curl writes the attempt as a command line that sends the same request from a
// POSIX shell. Lengths are left to curl.
func (a Attempt) Curl(body []byte) string {
	var line strings.Builder
	line.WriteString("curl -X POST " + shellQuote(a.URL))
	for _, h := range a.RequestHeaders {
		if strings.EqualFold(h.Name, "Host") || strings.EqualFold(h.Name, "Content-Length") {
			continue
		}
		line.WriteString(" \\\n  -H " + shellQuote(h.Name+": "+h.Value))
	}
	line.WriteString(" \\\n  --data-raw " + shellQuote(string(body)))
	return line.String()
}

// shellQuote keeps the shell from reading anything into the text.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
