package httpapi

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// The body decoder is held against the standard library's parser: whatever it
// takes is JSON in both, and of what it refuses only what is nested too deep may
// be JSON. Strings that are no text are for the one who reads them to refuse.
func FuzzParseObject(f *testing.F) {
	for _, s := range []string{
		`{"externalId":"HR-1042","email":"anna@x.example","name":"Anna"}`, `{"a":"\ud83e\udd8a"}`, `{"a":"\ud800"}`,
		`{"a":[1,2.5e3,{"b":null}]} `, `[]`, `{"a":01}`, "{\"a\":\"\xff\"}", `{"a":1}{}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := ParseObject(data)
		isJSON := json.Valid(data) && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))
		switch {
		case err == nil && !isJSON:
			t.Fatalf("took %q", data)
		case err != nil && isJSON && checkShape(data) == nil:
			t.Fatalf("refused %q: %v", data, err)
		case err != nil:
			if domain.CodeOf(err) != domain.CodeInvalid {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		var whole map[string]json.RawMessage
		if err := json.Unmarshal(data, &whole); err != nil {
			t.Fatal(err)
		}
		for name, raw := range whole {
			var want string
			if strings.ContainsRune(name, utf8.RuneError) {
				continue // the other parser's way to write a name that is no text
			}
			isString := raw[0] == '"' && json.Unmarshal(raw, &want) == nil && validText(raw) == nil
			if got := o.OptString(name); (got != nil) != isString || isString && *got != want {
				t.Fatalf("%q: got %v, want %q", name, got, want)
			}
			readAs(o, name)
		}
	})
}

// readAs reads one field in every way, which must end well.
func readAs(o *Object, name string) {
	o.OptInt(name)
	o.OptBool(name)
	o.OptPoints(name)
	o.OptInstant(name)
	o.NullableInstant(name)
	o.OptStrings(name, 5)
	for _, item := range o.Items(name, 3) {
		if inner, err := item.Object(); err == nil {
			inner.Int("a")
			_ = inner.Err()
		}
	}
	_ = o.Err()
}

func FuzzInteger(f *testing.F) {
	for _, s := range []string{"0", "-7", "1.0", "1e2", "120e-1", "9223372036854775807", "9.223372036854775807e18", "1e999999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.TrimLeft(s, "-0123456789") == s || !json.Valid([]byte(s)) {
			return // no number
		}
		got, err := parseInteger([]byte(s))
		var plain int64
		if json.Unmarshal([]byte(s), &plain) == nil && (err != nil || got != plain) {
			t.Fatalf("%s: got %d, %v", s, got, err)
		}
		var f float64
		if err == nil && json.Unmarshal([]byte(s), &f) == nil && float64(got) != f {
			t.Fatalf("%s: got %d, the number is %g", s, got, f)
		}
	})
}

func FuzzQueryInstant(f *testing.F) {
	for _, s := range []string{
		"2026-11-14T09:30:00Z", "2026-11-14T12:30:00 03:00", "2026-11-14T12:30:00.123456789+03:00", "2026-11-14", "1899-12-31T23:59:59Z",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, err := ParseQueryInstant(s)
		if err != nil {
			if !utf8.ValidString(err.Error()) || strings.Contains(err.Error(), "parsing time") {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		again, err := ParseQueryInstant(domain.FormatInstant(at))
		if err != nil || !again.Equal(at) {
			t.Fatalf("%q: %v came back as %v, %v", s, at, again, err)
		}
	})
}

// A header matches a tag exactly if it lists it, strong or weak, or any.
func FuzzETagMatches(f *testing.F) {
	const etag = `"0123456789abcdef"`
	for _, seed := range []string{"", "*", etag, "W/" + etag, `"other", ` + etag, `"a,` + etag, "w/" + etag, ",,,", `W/*`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if etagMatches(header, etag) && !strings.Contains(header, etag) && !strings.Contains(header, "*") {
			t.Errorf("%q matches %s", header, etag)
		}
		for _, listed := range []string{header + "," + etag, "W/" + etag + " ," + header} {
			if !etagMatches(listed, etag) {
				t.Errorf("%q does not match %s", listed, etag)
			}
		}
	})
}
