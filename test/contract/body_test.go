package contract_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// invalidBodies are bodies that every operation must refuse.
var invalidBodies = map[string]string{
	"null":                 `null`,
	"an array":             `[]`,
	"an array of objects":  `[{"externalId":"a"}]`,
	"a string":             `"x"`,
	"a number":             `7`,
	"a boolean":            `true`,
	"cut off":              `{"externalId":"a"`,
	"cut off in a string":  `{"externalId":"a`,
	"cut off in an escape": `{"externalId":"\u00`,
	"only a brace":         `{`,
	"the wrong brace":      `{"externalId":"a"]`,
	"something after it":   `{} {}`,
	"a letter after it":    `{}x`,
	"a comma too many":     `{"externalId":"a",}`,
	"no quotes":            `{externalId:"a"}`,
	"single quotes":        `{'externalId':'a'}`,
	"a comment":            `{/* a */}`,
	"NaN":                  `{"x":NaN}`,
	"a number with zeros":  `{"x":007}`,
	"a form":               `externalId=a&email=b`,
	"XML":                  `<externalId>a</externalId>`,
	"NUL":                  "\x00",
	"NUL after it":         "{}\x00",
	"a raw control":        "{\"externalId\":\"a\nb\"}",
	"bytes that are none":  "{\"externalId\":\xff}",
	"UTF-16":               "\xff\xfe{\x00}\x00",
	"deep arrays":          `{"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`,
	"deep objects":         strings.Repeat(`{"x":`, 100_000) + `1` + strings.Repeat("}", 100_000),
	"deep and open":        strings.Repeat("[", 500_000),
	"an unknown escape":    `{"name":"\q"}`,
}

// badBodies sends invalid bodies to every operation that has a body.
func badBodies(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.provision(t, "nobody") // so that PATCH has someone to find
	for _, c := range []caller{f.caller, s.platformCaller()} {
		for _, op := range c.contract.Operations {
			if op.Body == "" {
				continue
			}
			for name, body := range invalidBodies {
				c.send(t, op.Method, missingPaths.Replace(op.Path), body).wantFailure(t, op.ID+": "+name, 400, "invalid_request", "")
			}
			if op.ID != "updateEmployee" {
				for _, body := range []string{"", " ", "{}"} {
					c.send(t, op.Method, missingPaths.Replace(op.Path), body).wantFailure(t, op.ID+": nothing", 400, "invalid_request", "")
				}
			}
		}
	}
	f.sendRow(t, f.caller, row{name: "nothing came of it", do: "GET /employees", has: `{"items":[{"externalId":"nobody","name":"Person nobody","tags":[]}]}`})
	f.sendRow(t, f.caller, row{name: "nothing came of it", do: "GET /assignments", has: `{"items":[]}`})
}

// numbers sends integers in every notation of JSON.
func numbers(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.provision(t, "E1")
	assign := func(course string) row {
		return row{name: course, do: "POST /assignments", body: fmt.Sprintf(`{"employeeExternalId":"E1","courseId":%s,"externalId":"N"}`, course)}
	}
	for _, course := range []string{f.vars["course"], f.vars["course"] + ".0", f.vars["course"] + "e0", f.vars["course"] + ".000e+00", f.vars["course"] + "0e-1"} {
		f.sendRow(t, f.caller, assign(course))
	}
	for _, course := range []string{"1.5", `"` + f.vars["course"] + `"`, "null", "true", "[]", "{}", "1e400", "-1e400", "1e-400", "9223372036854775808",
		"99999999999999999999999999", "-9223372036854775809", strings.Repeat("9", 10_000), "0.1e0", "1e999999999999999999999"} {
		r := assign(course)
		r.status, r.code, r.fields = 400, "invalid_request", "courseId"
		f.sendRow(t, f.caller, r)
	}
	for _, course := range []string{"0", "-1", "-0", "9223372036854775807", "-9223372036854775808", "999999999"} {
		r := assign(course)
		r.status, r.code = 404, "course_not_found"
		f.sendRow(t, f.caller, r)
	}
}

// invalidStrings are JSON strings that are not valid text.
var invalidStrings = map[string]string{
	"broken UTF-8":          "\xff\xfe",
	"overlong UTF-8":        "\xc0\xaf",
	"a surrogate as UTF-8":  "\xed\xa0\x80",
	"Latin-1":               "J\xf6rg",
	"half a surrogate pair": `\ud83d`,
	"the other half":        `\ude00x`,
	"halves the wrong way":  `\ude00\ud83d`,
}

// badStrings checks that an invalid string is reported by its field, and only if the
// field is read.
func badStrings(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.provision(t, "E1")
	f.provision(t, "E2")
	platform := s.platformCaller()
	n := 0
	for name, bad := range invalidStrings {
		n++
		f.vars["bad"], f.vars["n"] = bad, fmt.Sprint(n)
		f.vars["a"] = f.assign(t, "E2", f.course, fmt.Sprint("S", n))
		refused := func(do, body, fields string) row {
			return row{name: name + ": " + do, do: do, body: body, status: 400, code: "invalid_request", fields: fields}
		}
		f.sendRows(t, []row{
			refused("POST /employees/provision", `{"externalId":"X","email":"x@<bad>","name":"<bad>"}`, "email name"),
			refused("POST /employees/provision", `{"externalId":"<bad>"}`, "externalId email name"),
			refused("PATCH /employees/E1", `{"name":"<bad>","tags":["a","b<bad>"]}`, "name tags[1]"),
			refused("POST /assignments", `{"employeeExternalId":"E1","courseId":<course>,"externalId":"<bad>","deadline":"<bad>"}`, "externalId deadline"),
			{name: name + " in what is ignored", do: "PATCH /employees/E1", body: `{"note":"<bad>","<bad>":1,"more":{"x":["<bad>"]},"name":"N<n>"}`, has: `{"name":"N<n>"}`},
			{name: name + " in an item", do: bulkPath, body: `{"note":"<bad>","items":[
				{"employeeExternalId":"E1","courseId":<course>,"externalId":"A<n>"},
				{"employeeExternalId":"E1","courseId":<course>,"externalId":"<bad>"},
				{"employeeExternalId":"<bad>","courseId":<course>,"externalId":"B<n>"}, "<bad>",
				{"employeeExternalId":"E1","courseId":<course>,"externalId":"C<n>","note":"<bad>"}]}`,
				has: `{"results":[{"ok":true},{"ok":false,"code":"invalid_request"},{"ok":false,"code":"invalid_request"},{"ok":false,"code":"invalid_request"},{"ok":true}]}`},
		})
		f.sendRow(t, platform, refused("PUT /courses/halves", `{"name":"<bad>","modules":["<bad>"]}`, "name modules[0]"))
		a := f.sendRow(t, platform, row{name: name + " in an activity", do: activityPath, body: `{"items":[
			{"id":"half-<company>-<n>","assignmentId":<a>,"type":"started"},{"id":"<bad>","assignmentId":<a>,"type":"started"},
			{"id":"half-<company>-<n>+","assignmentId":<a>,"type":"progress","completionPercent":5}]}`,
			has: `{"results":[{"ok":true},{"ok":false,"code":"invalid_request"},{"ok":true,"status":"started"}]}`})
		if message := a.str("results.1.message"); !strings.HasPrefix(message, "id: ") {
			t.Errorf("%s: the item's message is %q", name, message)
		}
	}
}

// compressed checks that a compressed body is refused as such.
func compressed(t *testing.T, s *suite) {
	f := s.newCompany(t)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = io.WriteString(w, `{"name":"N"}`)
	_ = w.Close()
	for _, coding := range []string{"gzip", ""} {
		a := f.send(t, "PATCH", "/employees/nobody", packed.String(), func(r *http.Request) { r.Header.Set("Content-Encoding", coding) })
		a.wantFailure(t, "gzip", 400, "invalid_request", "compressed")
	}
}

// contentTypes checks that any Content-Type is accepted.
func contentTypes(t *testing.T, s *suite) {
	f := s.newCompany(t)
	for i, kind := range []string{"", "application/json", "application/json; charset=utf-8", "text/plain", "application/x-www-form-urlencoded",
		"application/octet-stream", "multipart/form-data; boundary=x", "nonsense", ";;;", "application/vnd.api+json", "application/json; charset=latin-1"} {
		a := f.send(t, "POST", "/employees/provision", fmt.Sprintf(`{"externalId":"C%d","email":%q,"name":"C"}`, i, f.email(fmt.Sprint("c", i))),
			func(r *http.Request) {
				r.Header.Del("Content-Type")
				if kind != "" {
					r.Header.Set("Content-Type", kind)
				}
			})
		if a.status != 200 {
			t.Errorf("Content-Type %q: %d %s", kind, a.status, a.text)
		}
	}
	for _, accept := range []string{"", "*/*", "application/json", "text/html", "application/xml;q=0.9"} {
		if a := f.send(t, "GET", "/courses", "", func(r *http.Request) { r.Header.Set("Accept", accept) }); a.status != 200 {
			t.Errorf("Accept %q: %d", accept, a.status)
		}
	}
	f.sendRows(t, []row{
		{name: "a byte order mark", do: "PATCH /employees/C0", body: "\ufeff{\"name\":\"D\"}", has: `{"name":"D"}`},
		{name: "white space around", do: "PATCH /employees/C0", body: " \r\n\t{\"name\" : \"E\"} \n", has: `{"name":"E"}`},
		{name: "escapes", do: "PATCH /employees/C0", body: `{"\u006eame":"\u0046\ud83d\ude00"}`, has: `{"name":"F😀"}`},
		{name: "a body for GET", do: "GET /employees/C0", body: `{"name":`, has: `{"name":"F😀"}`},
		{name: "a body for DELETE", do: "DELETE /employees/C0", body: `nonsense`, has: `{"status":"deleted"}`},
		{name: "a long unknown field", do: "PATCH /employees/C1", body: `{"x":"` + strings.Repeat("y", 1_000_000) + `","name":"G"}`, has: `{"name":"G"}`},
		{name: "a megabyte of name", do: "PATCH /employees/C1", body: `{"name":"` + strings.Repeat("y", 1_000_000) + `"}`, status: 400, code: "invalid_request", fields: "name"},
		{name: "many fields", do: "PATCH /employees/C1", body: `{` + strings.Repeat(`"x":1,`, 50_000) + `"name":"H"}`, has: `{"name":"H"}`},
	})
}

// requestIDs checks that valid request ids are returned and others replaced.
func requestIDs(t *testing.T, s *suite) {
	f := s.newCompany(t)
	for id, sane := range map[string]bool{
		"hr-sync-7f3a91": true, strings.Repeat("x", 128): true, "~!@#$%^&*()": true, "a": true,
		strings.Repeat("x", 129): false, "with space": false, "emoji-😀": false, "tab\tin": false, "é": false,
	} {
		for _, path := range []string{"/token", "/nothing", "/employees/nobody"} {
			a := f.send(t, "GET", path, "", func(r *http.Request) { r.Header.Set("X-Request-Id", id) })
			if got := a.header.Get("X-Request-Id"); (got == id) != sane || got == "" {
				t.Errorf("GET %s: X-Request-Id %q came back as %q", path, id, got)
			}
		}
	}
	first, second := f.send(t, "GET", "/token", ""), f.send(t, "GET", "/token", "")
	if first.header.Get("X-Request-Id") == second.header.Get("X-Request-Id") {
		t.Error("two requests have one id")
	}
}
