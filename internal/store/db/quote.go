package db

import "encoding/json"

// AppendQuoted appends a text as a JSON string. Printable ASCII it writes itself: the
// headers in the log of an attempt took a thirtieth of the time of a delivery.
func AppendQuoted(to []byte, text string) []byte {
	begin, from := len(to), 0
	to = append(to, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c > '~':
			quoted, err := json.Marshal(text)
			if err != nil {
				panic(err) // a string always encodes
			}
			return append(to[:begin], quoted...)
		case c == '"' || c == '\\':
			to = append(append(to, text[from:i]...), '\\', c)
			from = i + 1
		}
	}
	return append(append(to, text[from:]...), '"')
}
