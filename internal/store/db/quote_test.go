package db_test

import (
	"encoding/json"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// Whatever a receiver sends in a header must be read back as it was, up to invalid UTF-8.
func FuzzAppendQuoted(f *testing.F) {
	for _, text := range []string{"", "plain", `a "quoted" \ word`, `"`, `\`, "<&>", "tab\t", "\x00", "Grüße", "\u2028", "\xff", `"after"` + "\n" + `"a line"`, "\x7f"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		quoted := db.AppendQuoted([]byte("[1,"), text)
		var got []any
		if err := json.Unmarshal(append(quoted, ']'), &got); err != nil {
			t.Fatalf("%q became %s: %v", text, quoted, err)
		}
		var want string
		encoded, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(encoded, &want); err != nil {
			t.Fatal(err)
		}
		if len(got) != 2 || got[1] != want {
			t.Errorf("%q was read as %q", text, got)
		}
	})
}

func BenchmarkAppendQuoted(b *testing.B) {
	text := `[{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge"}]`
	buffer := make([]byte, 0, 256)
	b.Run("own", func(b *testing.B) {
		for b.Loop() {
			db.AppendQuoted(buffer, text)
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		for b.Loop() {
			if _, err := json.Marshal(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
