package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// output prints results for people or for programs.
type output struct {
	json bool
	to   io.Writer
}

func (o output) print(result any) error {
	if o.json {
		enc := json.NewEncoder(o.to)
		enc.SetEscapeHTML(false)
		return enc.Encode(result)
	}
	if s, ok := result.(fmt.Stringer); ok {
		_, err := fmt.Fprintln(o.to, s)
		return err
	}
	enc := json.NewEncoder(o.to)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(result)
}
