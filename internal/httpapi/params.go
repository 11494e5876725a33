package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Params reads the parameters of a path and a query string and collects what is
// wrong with them. A query parameter that is present but empty is wrong, not
// absent: a filter that was meant but came out empty must not answer with everything.
type Params struct {
	request *http.Request
	query   url.Values
	names   []string // the query parameters that may be read
	checks  domain.Checks
}

// newParams returns a reader for a request whose query string checkQuery has accepted.
func newParams(r *http.Request, names []string) *Params {
	p := &Params{request: r, names: names}
	if r.URL.RawQuery != "" {
		p.query, _ = url.ParseQuery(r.URL.RawQuery)
	}
	return p
}

// get returns the value of a parameter. The routing table must name it, so that
// the table, and with it the contract, is complete.
func (p *Params) get(name string) (value string, present bool) {
	if !slices.Contains(p.names, name) {
		panic("httpapi: the routing table does not name the query parameter " + name)
	}
	values := p.query[name]
	if len(values) > 1 {
		p.checks.Add(name, errors.New("must be given only once"))
		return "", false
	}
	if len(values) == 0 {
		return "", false
	}
	return values[0], true
}

// Has reports whether a parameter was given.
func (p *Params) Has(name string) bool { return len(p.query[name]) > 0 }

// Err returns everything that was wrong, nil if nothing was.
func (p *Params) Err() error { return p.checks.Err() }

// Int reads an integer from least to most.
func (p *Params) Int(name string, least, most, otherwise int64) int64 {
	s, present := p.get(name)
	if !present {
		return otherwise
	}
	n, err := parseDecimal(s)
	if err != nil || n < least || n > most {
		p.checks.Add(name, fmt.Errorf("must be an integer from %d to %d", least, most))
		return otherwise
	}
	return n
}

// Count reads a positive integer.
func (p *Params) Count(name string, otherwise int64) int64 {
	s, present := p.get(name)
	if !present {
		return otherwise
	}
	n, err := parseDecimal(s)
	switch {
	case errors.Is(err, strconv.ErrRange):
		p.checks.Add(name, errors.New("must be a positive integer of at most 18 digits"))
		return otherwise
	case err != nil || n < 1:
		p.checks.Add(name, errors.New("must be a positive integer"))
		return otherwise
	}
	return n
}

// ID reads an identifier of the service, 0 if absent. Zero and negative ones are read
// as -1, which matches nothing.
func (p *Params) ID(name string) int64 {
	s, present := p.get(name)
	if !present {
		return 0
	}
	if n := p.parseID(name, s); n > 0 {
		return n
	}
	return -1
}

// PathID reads an identifier of the service from the path. It accepts any integer;
// the service answers 404 for one that does not exist.
func (p *Params) PathID(name string) int64 { return p.parseID(name, p.path(name)) }

// PathExternalID reads an external id from the path.
func (p *Params) PathExternalID(name string) string { return p.parseIdentifier(name, p.path(name)) }

// path returns the decoded value of a wildcard of the operation's path.
func (p *Params) path(name string) string {
	value := p.request.PathValue(name)
	if value == slashSegment {
		return "/"
	}
	return value
}

func (p *Params) parseID(name, value string) int64 {
	n, err := parseDecimal(value)
	switch {
	case errors.Is(err, strconv.ErrRange):
		p.checks.Add(name, errRange)
	case err != nil:
		p.checks.Add(name, errors.New("must be an integer"))
	}
	return n
}

// parseDecimal parses digits with an optional minus. Unlike strconv it refuses a plus.
func parseDecimal(s string) (int64, error) {
	if strings.HasPrefix(s, "+") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(s, 10, 64)
}

// ExternalID reads an external id, empty if absent.
func (p *Params) ExternalID(name string) string {
	if s, present := p.get(name); present {
		return p.parseIdentifier(name, s)
	}
	return ""
}

func (p *Params) parseIdentifier(name, value string) string {
	p.checks.Add(name, domain.CheckIdentifier(value))
	return value
}

// Email reads an e-mail address to look for, without the white space around it, empty
// if absent. It applies only the limits of every stored text, such as 255 characters.
func (p *Params) Email(name string) string {
	s, present := p.get(name)
	if !present {
		return ""
	}
	return p.parseIdentifier(name, strings.TrimSpace(s))
}

// Tag reads a tag and normalises it as stored tags are, empty if absent.
func (p *Params) Tag(name string) string {
	s, present := p.get(name)
	if !present {
		return ""
	}
	tags, err := domain.NormalizeTags([]string{s})
	if err != nil {
		p.checks.Add(name, errors.Unwrap(err)) // without the position in a list
		return ""
	}
	return tags[0]
}

// Status reads a status, empty if absent.
func (p *Params) Status(name string) domain.Status {
	s, present := p.get(name)
	if !present {
		return ""
	}
	status, err := domain.ParseStatus(s)
	p.checks.Add(name, err)
	return status
}

// Instant reads a date-time, nil if absent. An unencoded plus of the offset arrives
// as a space and is read as a plus.
func (p *Params) Instant(name string) *time.Time {
	s, present := p.get(name)
	if !present {
		return nil
	}
	t, err := ParseQueryInstant(s)
	if err != nil {
		p.checks.Add(name, err)
		return nil
	}
	return &t
}

// ParseQueryInstant reads a date-time from a query string.
func ParseQueryInstant(s string) (time.Time, error) {
	if i := len(s) - len(" 00:00"); i > 0 && s[i] == ' ' {
		s = s[:i] + "+" + s[i+1:]
	}
	return domain.ParseInstant(s)
}

// Bool reads true or false, false if absent.
func (p *Params) Bool(name string) bool {
	s, present := p.get(name)
	if present && s != "true" && s != "false" {
		p.checks.Add(name, errors.New("must be true or false"))
	}
	return s == "true"
}

// checkQuery refuses a query string of which url.ParseQuery would drop a part.
func checkQuery(raw string) error {
	if !strings.ContainsAny(raw, "%;") {
		return nil // nothing that could be malformed
	}
	if _, err := url.ParseQuery(raw); err != nil {
		return domain.Errorf(domain.CodeInvalid, "The query string is not valid. Percent-encode what is not a letter, digit or one of - . _ ~.").WithCause(err)
	}
	return nil
}
