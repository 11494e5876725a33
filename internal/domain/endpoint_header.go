package domain

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Limits of the headers that a company adds to the requests of a webhook, and of
// the requests of a webhook in a minute.
const (
	MaxEndpointHeaders = 10
	maxHeaderName      = 64
	maxHeaderValue     = 1024
	MaxRatePerMinute   = 60_000
)

// HeaderMask stands for the value of a header in forms and in the delivery log. As
// input it keeps the value that the header has.
const HeaderMask = "••••••"

// ownHeaders are names of the service or of HTTP itself, in lower case.
var ownHeaders = []string{
	"host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "keep-alive", "upgrade", "te",
	"trailer", "expect", "user-agent", "accept-encoding", "idempotency-key",
}

// ownPrefixes begin the names that are the service's or a proxy's, in lower case.
var ownPrefixes = []string{"x-service-", "webhook-", "proxy-", "sec-"}

// ParseHeaders reads one header per line: a name, a colon and a value.
func ParseHeaders(text string) (Headers, error) {
	var out Headers
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		if !found {
			return nil, errors.New("write each header as a name, a colon and a value, for example X-Api-Key: 123")
		}
		out = append(out, Header{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	return out, nil
}

// FormatHeaders writes what ParseHeaders reads, with masked values.
func FormatHeaders(headers Headers) string {
	var out strings.Builder
	for _, h := range headers {
		fmt.Fprintf(&out, "%s: %s\n", h.Name, HeaderMask)
	}
	return out.String()
}

// CheckHeaders refuses headers that can't be sent with a webhook. No message repeats
// a value.
func CheckHeaders(headers Headers) error {
	if len(headers) > MaxEndpointHeaders {
		return fmt.Errorf("use at most %d headers", MaxEndpointHeaders)
	}
	for i, h := range headers {
		lower := strings.ToLower(h.Name)
		isOwn := func(prefix string) bool { return strings.HasPrefix(lower, prefix) }
		switch {
		case !isHeaderName(h.Name):
			return errors.New("use letters, digits and hyphens for the name of a header, at most 64 of them")
		case slices.Contains(ownHeaders, lower) || slices.ContainsFunc(ownPrefixes, isOwn):
			return fmt.Errorf("%s is set by this service; choose another name", h.Name)
		case slices.ContainsFunc(headers[:i], func(o Header) bool { return strings.EqualFold(o.Name, h.Name) }):
			return fmt.Errorf("%s is there twice; remove one", h.Name)
		case !isPlainValue(h.Value):
			return fmt.Errorf("the value of %s must have 1 to %d characters of plain ASCII", h.Name, maxHeaderValue)
		}
	}
	return nil
}

func isHeaderName(name string) bool {
	return name != "" && len(name) <= maxHeaderName && strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}) < 0
}

func isPlainValue(value string) bool {
	return value != "" && len(value) <= maxHeaderValue && strings.IndexFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// KeepHeaders replaces masked values by those that the headers have now. It fails for
// a header that has none yet.
func KeepHeaders(headers, now Headers) (Headers, error) {
	out := slices.Clone(headers)
	for i, h := range out {
		if h.Value != HeaderMask {
			continue
		}
		if out[i].Value = now.Get(h.Name); out[i].Value == "" {
			return nil, fmt.Errorf("enter the value of %s", h.Name)
		}
	}
	return out, nil
}

// EncodeHeaders writes headers for encryption; nil if there are none.
func EncodeHeaders(headers Headers) []byte {
	if len(headers) == 0 {
		return nil
	}
	text, err := json.Marshal(headers)
	if err != nil {
		panic(err) // strings can be encoded
	}
	return text
}

// DecodeHeaders reads what EncodeHeaders wrote.
func DecodeHeaders(text []byte) (Headers, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var out Headers
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, errors.New("the stored headers can't be read; enter them again") // its error may hold a value
	}
	return out, nil
}
