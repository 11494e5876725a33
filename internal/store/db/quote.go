package db

import "encoding/json"

// AppendQuoted appends a text as a JSON string. It writes printable ASCII itself and
// leaves other texts to encoding/json: with encoding/json alone, the headers in the log of
// an attempt took a thirtieth of the time of a delivery. The encoder of
// package v1 is out of reach, because the store does not know the API.
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
