package client

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
)

// pageSize is the number of records that the client asks for at a time, the most
// that the server allows.
const pageSize = "500"

// walk returns the items of all pages of a list. Each range over them begins with the
// first page.
func walk[Page, Item any](ctx context.Context, c *Client, first request, items func(Page) []Item) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for r := first; ; {
			page, header, err := callWithHeader[Page](ctx, c, r)
			if err != nil {
				var none Item
				yield(none, err)
				return
			}
			for _, item := range items(page) {
				if !yield(item, nil) {
					return
				}
			}
			if r.query = nextPage(header); r.query == nil {
				return
			}
		}
	}
}

// nextPage returns the query of the page that the Link header names, or nil after
// the last page. Only the query is followed, so the token is never sent elsewhere.
func nextPage(h http.Header) url.Values {
	for _, link := range strings.Split(h.Get("Link"), ",") {
		target, parameters, ok := strings.Cut(strings.TrimSpace(link), ">")
		if !ok || !strings.Contains(parameters, `rel="next"`) {
			continue
		}
		address, err := url.Parse(strings.TrimPrefix(target, "<"))
		if err != nil {
			return nil
		}
		return address.Query()
	}
	return nil
}

// set adds a parameter, unless its value is empty.
func set(query url.Values, name, value string) {
	if value != "" {
		query.Set(name, value)
	}
}

// ReportAssignments writes the report of assignments, as "csv" or "xlsx". If the
// download breaks off, it returns an error after a part may have been written.
func (c *Client) ReportAssignments(ctx context.Context, format string, f AssignmentFilter, to io.Writer) error {
	query := f.query()
	query.Del("limit")
	return c.download(ctx, request{path: []string{"reports", "assignments." + format}, query: query}, to)
}

// ReportEmployees writes the report of employees with a tag, or of all if the tag
// is empty, as "csv" or "xlsx".
func (c *Client) ReportEmployees(ctx context.Context, format, tag string, to io.Writer) error {
	query := url.Values{}
	set(query, "tag", tag)
	return c.download(ctx, request{path: []string{"reports", "employees." + format}, query: query}, to)
}

func (c *Client) download(ctx context.Context, r request, to io.Writer) error {
	response, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(to, response.Body); err != nil {
		return fmt.Errorf("download %s: %w", strings.Join(r.path, "/"), err)
	}
	return nil
}
