package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestParseObjectRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "empty"},
		{"white space", " \n\t", "empty"},
		{"an array", `[{"a":1}]`, "not an array"},
		{"a string", `"a"`, "not a string"},
		{"a number", `1`, "not a number"},
		{"a boolean", `true`, "not a boolean"},
		{"null", `null`, "not null"},
		{"form data", `a=1&b=2`, "not valid JSON: there is a syntax error at byte 1"},
		{"half an object", `{"a":1`, "not valid JSON: there is a syntax error at byte 6"},
		{"a comma too many", `{"a":1,}`, "not valid JSON: there is a syntax error at byte 8"},
		{"single quotes", `{'a':1}`, "not valid JSON: there is a syntax error at byte 2"},
		{"a leading zero", `{"a":01}`, "not valid JSON"},
		{"a lone dot", `{"a":1.}`, "not valid JSON"},
		{"a plus", `{"a":+1}`, "not valid JSON"},
		{"not a number", `{"a":NaN}`, "not valid JSON"},
		{"a raw newline", "{\"a\":\"x\ny\"}", "not valid JSON"},
		{"a bad escape", `{"a":"\x"}`, "not valid JSON"},
		{"a short escape", `{"a":"\u12"}`, "not valid JSON"},
		{"a comment", `{"a":1 /* one */}`, "not valid JSON"},
		{"trailing data", `{"a":1} {"b":2}`, "nothing after it"},
		{"trailing rubbish", `{"a":1}x`, "nothing after it"},
		{"broken unknown fields", `{"a":1,"unknown":[1,2}`, "not valid JSON"},
		{"bad bytes for a value", "{\"a\":\xff}", "not UTF-8"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "not UTF-8"},
		{"a surrogate cut short", `{"a":"\ud83d\u"}`, "not valid JSON"},
		{"deep arrays", `{"a":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + `}`, "nested more than 32"},
		{"very deep arrays", strings.Repeat("[", 500_000), "nested more than 32"},
		{"very deep objects", strings.Repeat(`{"a":`, 100_000), "nested more than 32"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseObject([]byte(c.text))
			var e *domain.Error
			if !errors.As(err, &e) || e.Code != domain.CodeInvalid || !strings.Contains(e.Message, c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestParseObjectAccepts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"{\"a\":\"\xff\"}", "{\"\xff\":1}", `{"\ud800":1}`, `{"u":{"v":["\ud800"]}}`, // as long as nobody reads it
		`{}`, " \r\n\t{ } \n", `{"a":"\ud83e\udd8a"}`, `{"a":"🦊"}`, `{"a":"\\ud800"}`, `{"a":"\"{[{["}`,
		`{"a":1e5,"b":-0.0,"c":1E-7}`, `{"":1}`, `{"a":{"b":[null,true]}}`,
		`{"a":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + `}`,
	} {
		if _, err := ParseObject([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func object(t *testing.T, text string) *Object {
	t.Helper()
	o, err := ParseObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestFields(t *testing.T) {
	t.Parallel()
	o := object(t, `{"s":"\u0041\ud83e\udd8a","i":-5,"b":true,"p":92.5,"t":"2026-11-14T12:30:00.5+03:00",
		"n":null,"l":["x", "y"],"e":[],"twice":1,"twice":"second","\u006bey":"k","unknown":{"x":[1]}}`)
	at := time.Date(2026, 11, 14, 9, 30, 0, 500_000_000, time.UTC)
	type read struct {
		S, Twice, Key   string
		I               int64
		Absent          *string
		B               *bool
		P               *domain.Points
		T, N, NoInstant *time.Time
		L, E, NoStrings *[]string
		NoInt           *int64
		NoBool          *bool
	}
	yes, p := true, domain.Points(9250)
	want := read{
		S: "A🦊", Twice: "second", Key: "k", I: -5, B: &yes, P: &p, T: &at, L: &[]string{"x", "y"}, E: &[]string{},
	}
	got := read{
		S: o.String("s"), Twice: o.String("twice"), Key: o.String("key"), I: o.Int("i"),
		Absent: o.OptString("absent"), B: o.OptBool("b"), P: o.OptPoints("p"),
		T: o.OptInstant("t"), N: o.NullableInstant("n"), NoInstant: o.NullableInstant("absent"),
		L: o.OptStrings("l", 5), E: o.OptStrings("e", 5), NoStrings: o.OptStrings("absent", 5),
		NoInt: o.OptInt("absent"), NoBool: o.OptBool("absent"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := o.ErrWith(func() error { t.Error("nothing is wrong, and yet the rules are asked"); return nil }); err != nil {
		t.Error(err)
	}
}

func TestWrongFields(t *testing.T) {
	t.Parallel()
	const half = "must not contain half of a surrogate pair; send both halves or the character itself"
	for _, c := range []struct {
		text string
		read func(o *Object)
		want string
	}{
		{`{}`, func(o *Object) { o.String("f") }, "f: is required"},
		{`{}`, func(o *Object) { o.Int("f") }, "f: is required"},
		{`{}`, func(o *Object) { o.Items("f", 5) }, "f: is required"},
		{`{"f":null}`, func(o *Object) { o.String("f") }, "f: must be a string, not null"},
		{`{"f":null}`, func(o *Object) { o.OptString("f") }, "f: must be a string, not null"},
		{`{"f":null}`, func(o *Object) { o.OptStrings("f", 5) }, "f: must be an array, not null"},
		{`{"f":null}`, func(o *Object) { o.Items("f", 5) }, "f: must be an array, not null"},
		{`{"f":null}`, func(o *Object) { o.OptInstant("f") }, "f: must be a string, not null"},
		{`{"f":7}`, func(o *Object) { o.String("f") }, "f: must be a string, not a number"},
		{`{"f":{}}`, func(o *Object) { o.String("f") }, "f: must be a string, not an object"},
		{`{"f":[]}`, func(o *Object) { o.String("f") }, "f: must be a string, not an array"},
		{`{"f":"true"}`, func(o *Object) { o.OptBool("f") }, "f: must be a boolean, not a string"},
		{`{"f":0}`, func(o *Object) { o.OptBool("f") }, "f: must be a boolean, not a number"},
		{`{"f":"92"}`, func(o *Object) { o.OptPoints("f") }, "f: must be a number, not a string"},
		{`{"f":1e999}`, func(o *Object) { o.OptPoints("f") }, "f: must be a number from 0 to 100"},
		{`{"f":-1}`, func(o *Object) { o.OptPoints("f") }, "f: must be a number from 0 to 100"},
		{`{"f":1.005}`, func(o *Object) { o.OptPoints("f") }, "f: must have at most two decimals"},
		{`{"f":"5"}`, func(o *Object) { o.Int("f") }, "f: must be an integer, not a string"},
		{`{"f":1794818921}`, func(o *Object) { o.NullableInstant("f") }, "f: must be a string, not a number"},
		{`{"f":"2026-11-14"}`, func(o *Object) { o.NullableInstant("f") }, "f: must be a date-time with a zone, such as 2026-11-14T09:30:00Z or 2026-11-14T12:30:00+03:00"},
		{`{"f":"x"}`, func(o *Object) { o.OptStrings("f", 5) }, "f: must be an array, not a string"},
		{`{"f":["a",1,"b",null]}`, func(o *Object) { o.OptStrings("f", 5) }, "f[1]: must be a string, not a number; f[3]: must be a string, not null"},
		{`{"f":[1,2,3]}`, func(o *Object) { o.Items("f", 2) }, "f: must have at most 2 items"},
		{"{\"f\":\"J\xf6rg\"}", func(o *Object) { o.String("f") }, "f: must be valid UTF-8"},
		{"{\"f\":\"\xd0\"}", func(o *Object) { o.OptString("f") }, "f: must be valid UTF-8"},
		{"{\"f\":\"\xed\xa0\x80\"}", func(o *Object) { o.OptInstant("f") }, "f: must be valid UTF-8"},
		{"{\"f\":[\"a\",\"\xff\"]}", func(o *Object) { o.OptStrings("f", 5) }, "f[1]: must be valid UTF-8"},
		{`{"f":"a\ud800"}`, func(o *Object) { o.String("f") }, "f: " + half},
		{`{"f":"\udc00"}`, func(o *Object) { o.String("f") }, "f: " + half},
		{`{"f":"\ud83d\ud83d"}`, func(o *Object) { o.String("f") }, "f: " + half},
		{`{"f":"\ude00\ud83d"}`, func(o *Object) { o.String("f") }, "f: " + half},
		{`{"f":"\ud83d\n"}`, func(o *Object) { o.String("f") }, "f: " + half},
		{`{"f":["\ud83e\udd8a","\\\ud800"]}`, func(o *Object) { o.OptStrings("f", 5) }, "f[1]: " + half},
		{`{"a":1,"b":"x"}`, func(o *Object) { o.String("a"); o.Int("b"); o.String("c") }, "a: must be a string, not a number; b: must be an integer, not a string; c: is required"},
	} {
		o := object(t, c.text)
		c.read(o)
		if err := o.Err(); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.text, err, c.want)
		}
	}
}

func TestRulesJoinWrongFields(t *testing.T) {
	t.Parallel()
	o := object(t, `{"email":"nobody","name":5}`)
	in := domain.Provision{ExternalID: o.String("externalId"), Email: o.String("email"), Name: o.String("name")}
	var e *domain.Error
	if err := o.ErrWith(in.Normalize); !errors.As(err, &e) {
		t.Fatal(err)
	}
	want := []domain.FieldError{
		{Field: "externalId", Message: "is required"},
		{Field: "name", Message: "must be a string, not a number"},
		{Field: "email", Message: "must be a plain e-mail address such as anna@example.com"},
	}
	if diff := cmp.Diff(want, e.Fields); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestIntegers(t *testing.T) {
	t.Parallel()
	const outside = "must be an integer of at most 18 digits"
	const fraction = "must be an integer, without a fraction"
	for _, c := range []struct {
		text string
		want int64
		err  string
	}{
		{"0", 0, ""}, {"-0", 0, ""}, {"7", 7, ""}, {"-7", -7, ""},
		{"9223372036854775807", 9223372036854775807, ""},
		{"-9223372036854775808", -9223372036854775808, ""},
		{"9223372036854775808", 0, outside},
		{"-9223372036854775809", 0, outside},
		{strings.Repeat("9", 400), 0, outside},
		{"1.0", 1, ""}, {"1.000", 1, ""}, {"-0.0", 0, ""}, {"1e2", 100, ""}, {"1E+2", 100, ""}, {"1.5e1", 15, ""},
		{"120e-1", 12, ""}, {"100e-2", 1, ""}, {"0e999999999999999999999", 0, ""}, {"0.000e-5", 0, ""},
		{"9223372036854775807.0", 9223372036854775807, ""},
		{"9.223372036854775807e18", 9223372036854775807, ""},
		{"9.223372036854775808e18", 0, outside},
		{"1e19", 0, outside}, {"1e400", 0, outside}, {"1e999999999999999999999", 0, outside},
		{"1.5", 0, fraction}, {"1e-1", 0, fraction}, {"0.1", 0, fraction}, {"1e-999999999999999999999", 0, fraction},
		{"4503599627370497.9", 0, fraction}, {"9007199254740993.5", 0, fraction},
	} {
		got, err := parseInteger([]byte(c.text))
		message := ""
		if err != nil {
			message = err.Error()
		}
		if got != c.want || message != c.err {
			t.Errorf("%.40s: got %d, %q", c.text, got, message)
		}
	}
}

func TestItemsStandAlone(t *testing.T) {
	t.Parallel()
	o := object(t, `{"items":[{"a":"x"}, 7, null, "s", [1], {"a":1}, {"a":"\ud800","b":1}, {"a":"y","b":"\ud800"}]}`)
	var got []string
	for _, item := range o.Items("items", 10) {
		one, err := item.Object()
		if err == nil {
			one.String("a")
			err = one.Err()
		}
		if err != nil {
			got = append(got, err.Error())
		} else {
			got = append(got, "ok")
		}
	}
	want := []string{
		"ok", "The item must be a JSON object, not a number.", "The item must be a JSON object, not null.",
		"The item must be a JSON object, not a string.", "The item must be a JSON object, not an array.",
		"a: must be a string, not a number",
		"a: must not contain half of a surrogate pair; send both halves or the character itself", "ok",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := o.Err(); err != nil {
		t.Error(err)
	}
}

// Many fields of one name must not make reading slow or wrong.
func TestRepeatedFieldNames(t *testing.T) {
	t.Parallel()
	text := "{" + strings.Repeat(`"a":1,`, 100_000) + `"a":"last"}`
	if !json.Valid([]byte(text)) {
		t.Fatal("the test is wrong")
	}
	if got := object(t, text).String("a"); got != "last" {
		t.Errorf("got %q", got)
	}
}

// Very long lists are refused at once: parsing them would keep a processor busy. Fields
// and commas within strings are no entries of a list.
func TestVeryLongListsAreRefused(t *testing.T) {
	t.Parallel()
	long := "[1" + strings.Repeat(",1", 51_000) + "]"
	for text, field := range map[string]string{
		`{"a":[1` + strings.Repeat(",1", 49_000) + `]}`:    "",
		`{"a":` + long + `}`:                               "a",
		`{"b":"c","a":{"d":` + long + `}}`:                 "a",
		`{` + strings.Repeat(`"a":1,`, 51_000) + `"a":1}`:  "",
		`{"a":"` + strings.Repeat(`,\",`, 51_000) + `"}`:   "",
		`{"a":["` + strings.Repeat(`,\",`, 51_000) + `"]}`: "",
	} {
		_, err := ParseObject([]byte(text))
		var failure *domain.Error
		switch {
		case field == "" && err != nil:
			t.Errorf("%.20s… of %d bytes: %v", text, len(text), err)
		case field != "" && (!errors.As(err, &failure) || len(failure.Fields) != 1 || failure.Fields[0].Field != field):
			t.Errorf("%.20s… of %d bytes: %+v, want an error of the field %s", text, len(text), err, field)
		}
	}
	for _, text := range []string{long, "[[" + long + "]]", strings.Repeat("]", 40), strings.Repeat("}", 40) + long} {
		if _, err := ParseObject([]byte(text)); err == nil {
			t.Errorf("%.20s… was accepted", text)
		}
	}
}

// Unknown fields are ignored, and however many there are, they take no memory.
//
//nolint:paralleltest // It measures, so nothing runs in parallel with it.
func TestManyFieldsTakeNoMemory(t *testing.T) {
	var body strings.Builder
	body.WriteString(`{"name":"first"`)
	for i := 0; body.Len() < MaxBody-200; i++ {
		fmt.Fprintf(&body, `,"%d":1`, i)
	}
	body.WriteString(`,"name":"last","courseId":310}`)
	data := []byte(body.String())
	bench := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			o, err := ParseObject(data)
			if err != nil {
				b.Fatal(err)
			}
			if name, course := o.String("name"), o.Int("courseId"); name != "last" || course != 310 || o.OptString("email") != nil || o.Err() != nil {
				b.Fatalf("read %q and %d, %v", name, course, o.Err())
			}
		}
	})
	if got := bench.AllocedBytesPerOp(); got > 64<<10 {
		t.Errorf("a body of %d bytes took %d bytes to read", len(data), got)
	}
}
