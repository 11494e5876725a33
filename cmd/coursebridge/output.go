package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/coursebridge/coursebridge/internal/app"
)

// output prints results for people or for programs.
type output struct {
	json bool
	to   io.Writer
}

func (o output) print(result any) error {
	if o.json {
		return o.printJSON(result, "")
	}
	switch r := result.(type) {
	case app.Table:
		return o.printTable(r)
	case fmt.Stringer:
		_, err := fmt.Fprintln(o.to, r)
		return err
	}
	return o.printJSON(result, "  ")
}

func (o output) printJSON(result any, indent string) error {
	enc := json.NewEncoder(o.to)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(result)
}

func (o output) printTable(t app.Table) error {
	header, rows := t.Table()
	w := tabwriter.NewWriter(o.to, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{header}, rows...) {
		if _, err := fmt.Fprintln(w, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if f, ok := t.(app.Footnote); ok && f.Footnote() != "" {
		_, err := fmt.Fprintln(o.to, f.Footnote())
		return err
	}
	return nil
}
