package contract_test

import (
	"fmt"
	"strings"
	"testing"
)

// provisionBody returns a body of provisioning; the arguments are JSON values, or ""
// for a valid default.
func (f *company) provisionBody(externalID, email, name string) string {
	usual := func(given, otherwise string) string {
		if given == "" {
			return quote(otherwise)
		}
		return given
	}
	return fmt.Sprintf(`{"externalId":%s,"email":%s,"name":%s}`,
		usual(externalID, "V"), usual(email, f.email("v")), usual(name, "Vera"))
}

// wideText returns n characters of three or four bytes each.
func wideText(n int) string { return strings.Repeat("日😀", n/2) + strings.Repeat("本", n%2) }

// emailOfLength returns an address of n characters.
func (f *company) emailOfLength(n int) string {
	end := fmt.Sprintf(".%d@%s", f.number, mailHost)
	return strings.Repeat("é", n-len(end)) + end
}

// values sends valid and invalid values of the text fields.
func values(t *testing.T, s *suite) {
	f := s.newCompany(t)
	for _, c := range []struct{ name, externalID, email, name2, fields string }{
		{name: "nothing", externalID: `null`, email: `null`, name2: `null`, fields: "externalId email name"},
		{name: "other types", externalID: `7`, email: `["a@b.c"]`, name2: `{"first":"A"}`, fields: "externalId email name"},
		{name: "booleans", externalID: `true`, email: `false`, name2: `true`, fields: "externalId email name"},
		{name: "empty", externalID: `""`, email: `""`, name2: `""`, fields: "externalId email name"},
		{name: "blank", externalID: `" "`, email: `"  "`, name2: `" \t "`, fields: "externalId email name"},
		{name: "white space before an id", externalID: `" a"`, fields: "externalId"},
		{name: "white space after an id", externalID: `"a\u00a0"`, fields: "externalId"},
		{name: "a newline after an id", externalID: `"a\n"`, fields: "externalId"},
		{name: "a dot", externalID: `"."`, fields: "externalId"},
		{name: "two dots", externalID: `".."`, fields: "externalId"},
		{name: "256 characters of id", externalID: quote(wideText(256)), fields: "externalId"},
		{name: "256 characters of name", name2: quote(wideText(256)), fields: "name"},
		{name: "255 characters of email", email: quote(f.emailOfLength(255)), fields: "email"},
		{name: "NUL", externalID: `"a\u0000"`, email: `"a\u0000@b.c"`, name2: `"\u0000b"`, fields: "externalId email name"},
		{name: "control characters", externalID: `"a\u001fb"`, email: `"a\u007f@b.c"`, name2: `"a\u0085b"`, fields: "externalId email name"},
		{name: "a newline inside", name2: `"a\nb"`, fields: "name"},
		{name: "no at", email: `"ann"`, fields: "email"},
		{name: "two ats", email: `"a@b@c"`, fields: "email"},
		{name: "nothing before the at", email: `"@b.c"`, fields: "email"},
		{name: "nothing after the at", email: `"abc@"`, fields: "email"},
		{name: "two characters", email: `"a@"`, fields: "email"},
		{name: "a display name", email: `"Ann <a@b.c>"`, fields: "email"},
		{name: "a space inside", email: `"a b@c.d"`, fields: "email"},
		{name: "a list of addresses", email: `"a@b.c,d@e.f"`, fields: "email"},
	} {
		f.sendRow(t, f.caller, row{name: c.name, do: provisionPath, body: f.provisionBody(c.externalID, c.email, c.name2),
			status: 400, code: "invalid_request", fields: c.fields})
	}
	f.sendRow(t, f.caller, row{name: "nobody came of it", do: "GET /employees", has: `{"items":[],"pagination":{"page":1,"limit":50,"total":0,"pages":0}}`})
}

// storedValues sends values at their limits and reads them back.
func storedValues(t *testing.T, s *suite) {
	f := s.newCompany(t)
	long, mail := wideText(255), f.emailOfLength(254)
	for i, c := range []struct{ name, externalID, email, person, keptName string }{
		{name: "255 characters", externalID: long, email: mail, person: long},
		{name: "names are trimmed and composed", externalID: "nfc", person: " \u00a0Zoe\u0301  K.\n", keptName: "Zoé  K."},
		{name: "what composes to 255 characters fits", externalID: "composed", person: strings.Repeat("e\u0301", 255), keptName: strings.Repeat("é", 255)},
		{name: "identifiers stay as they are", externalID: "Zoe\u0301"},
		{name: "and are another when composed", externalID: "Zoé"},
		{name: "other scripts", externalID: "Иван/Ёж", person: "Иван 🦔 العربية"},
		{name: "markup is text", externalID: `"'&;--`, person: `Robert'); DROP TABLE employees;-- &amp;`},
		{name: "a plus", externalID: "plus", email: "a+b." + f.email("plus")},
		{name: "the shortest", externalID: "x", person: "y"},
		{name: "inner spaces", externalID: "a  b", person: "a  b"},
		{name: "three dots", externalID: "..."},
		{name: "a number", externalID: "007"},
		{name: "the word null", externalID: "null", person: "undefined"},
	} {
		if c.email == "" {
			c.email = f.email(fmt.Sprint("kept", i))
		}
		if c.person == "" {
			c.person = "Someone"
		}
		if c.keptName == "" {
			c.keptName = c.person
		}
		body := fmt.Sprintf(`{"externalId":%s,"email":%s,"name":%s}`, quote(c.externalID), quote(c.email), quote(c.person))
		made := f.send(t, "POST", "/employees/provision", body)
		wantData(t, c.name, fmt.Sprintf(`{"externalId":%s,"email":%s,"status":"created"}`, quote(c.externalID), quote(c.email)), made.body["data"])
		got := f.send(t, "GET", "/employees/"+percentEncode(c.externalID), "")
		wantData(t, c.name, fmt.Sprintf(`{"id":%s,"externalId":%s,"email":%s,"name":%s}`,
			made.str("id"), quote(c.externalID), quote(c.email), quote(c.keptName)), got.body["data"])
	}
}

// percentEncode encodes every byte that is not a letter or a digit.
func percentEncode(text string) string {
	var out strings.Builder
	for _, b := range []byte(text) {
		if '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z' {
			out.WriteByte(b)
			continue
		}
		fmt.Fprintf(&out, "%%%02X", b)
	}
	return out.String()
}

// tags sends lists of tags.
func tags(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.provision(t, "T")
	list := func(n int, tag func(i int) string) string {
		var items []string
		for i := range n {
			items = append(items, quote(tag(i)))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	number := func(i int) string { return fmt.Sprint("tag ", i) }
	fifty, long := list(50, number), quote(wideText(64))
	const patch = "PATCH /employees/T"
	f.sendRows(t, []row{
		{do: patch, body: `{"tags":["b","a","c"]}`, has: `{"tags":["b","a","c"]}`},
		{name: "trimmed, composed, folded, in their order", do: patch, body: `{"tags":[" b ","e\u0301","b","é","B","b"]}`, has: `{"tags":["b","é","B"]}`},
		{name: "fifty", do: patch, body: `{"tags":` + fifty + `}`, has: `{"tags":` + fifty + `}`},
		{name: "fifty-one", do: patch, body: `{"tags":` + list(51, number) + `}`, status: 400, code: "invalid_request", fields: "tags"},
		{name: "fifty-one equal ones", do: patch, body: `{"tags":` + list(51, func(int) string { return "same" }) + `}`, status: 400, code: "invalid_request", fields: "tags"},
		{name: "64 characters", do: patch, body: `{"tags":[` + long + `]}`, has: `{"tags":[` + long + `]}`},
		{name: "65 characters", do: patch, body: `{"tags":[` + quote(wideText(65)) + `]}`, status: 400, code: "invalid_request", fields: "tags"},
		{name: "empty", do: patch, body: `{"tags":["a",""]}`, status: 400, code: "invalid_request", fields: "tags"},
		{name: "blank", do: patch, body: `{"tags":[" "]}`, status: 400, code: "invalid_request", fields: "tags"},
		{name: "control characters", do: patch, body: `{"tags":["a\u0000"]}`, status: 400, code: "invalid_request", fields: "tags"},
		{name: "numbers", do: patch, body: `{"tags":["a",7,null]}`, status: 400, code: "invalid_request", fields: "tags[1] tags[2]"},
		{name: "a string", do: patch, body: `{"tags":"a"}`, status: 400, code: "invalid_request", fields: "tags"},
		{name: "an object", do: patch, body: `{"tags":{"0":"a"}}`, status: 400, code: "invalid_request", fields: "tags"},
		{name: "refusals changed nothing", do: "GET /employees/T", has: `{"tags":[` + long + `]}`},
		{name: "none", do: patch, body: `{"tags":[]}`, has: `{"tags":[]}`},
	})
}
