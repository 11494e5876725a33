package view

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"

	"github.com/a-h/templ"
)

// segment is a run of JSON text of one kind.
type segment struct {
	class string
	text  string
}

// pretty indents a JSON text; what is not JSON stays as it is.
func pretty(body string) (string, bool) {
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(body), "", "  "); err != nil {
		return body, false
	}
	return out.String(), true
}

// highlight writes indented JSON with colours. It is not a template, because every
// space counts within pre.
func highlight(text string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var out strings.Builder
		for _, p := range segments(text) {
			if p.class == "" {
				out.WriteString(templ.EscapeString(p.text))
				continue
			}
			out.WriteString(`<span class="` + p.class + `">` + templ.EscapeString(p.text) + `</span>`)
		}
		_, err := io.WriteString(w, out.String())
		return err
	})
}

// segments cuts indented JSON into keys, values and the rest, to be highlight.
// Its input comes from pretty, so strings are well formed.
func segments(text string) []segment {
	var out []segment
	rest := 0
	flush := func(to int) {
		if to > rest {
			out = append(out, segment{text: text[rest:to]})
		}
	}
	for i := 0; i < len(text); {
		end, class := i, ""
		switch c := text[i]; {
		case c == '"':
			end = i + stringLength(text[i:])
			class = "json-string"
			if strings.HasPrefix(text[end:], ":") {
				class = "json-key"
			}
		case strings.IndexByte("-0123456789tfn", c) >= 0:
			end = i + literalLength(text[i:])
			class = "json-literal"
		}
		if class == "" {
			i++
			continue
		}
		flush(i)
		out = append(out, segment{class: class, text: text[i:end]})
		i, rest = end, end
	}
	flush(len(text))
	return out
}

func stringLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

func literalLength(text string) int {
	if n := strings.IndexAny(text, ",\n]} "); n > 0 {
		return n
	}
	return len(text)
}
