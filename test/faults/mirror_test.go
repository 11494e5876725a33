package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"time"
)

// record is an assignment or an employee as the API or a webhook shows it.
type record map[string]any

func (r record) id() int64 {
	n, _ := r["id"].(float64)
	return int64(n)
}

func (r record) text(field string) string {
	s, _ := r[field].(string)
	return s
}

// list is one page of a list of the API.
type list struct {
	items     []record
	next      string // address of the next page, "" after the last
	watermark string
}

var nextLink = regexp.MustCompile(`<([^>]+)>; *rel="next"`)

// fetch reads one page.
func (c company) fetch(ctx context.Context, address string) (list, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return list{}, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := c.client.Do(req)
	if err != nil {
		return list{}, err
	}
	defer resp.Body.Close()
	var body struct {
		Data struct{ Items []record }
	}
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
		return list{}, err
	}
	if resp.StatusCode != http.StatusOK {
		return list{}, fmt.Errorf("%s: %s", address, resp.Status)
	}
	page := list{items: body.Data.Items, watermark: resp.Header.Get("X-Sync-Watermark")}
	if found := nextLink.FindStringSubmatch(resp.Header.Get("Link")); found != nil {
		next, err := req.URL.Parse(found[1])
		if err != nil {
			return list{}, err
		}
		page.next = next.String()
	}
	return page, nil
}

// fetchAll reads all pages of a list. The watermark is that of the first page.
func (c company) fetchAll(ctx context.Context, address string) (list, error) {
	all, err := c.fetch(ctx, address)
	for next := all.next; err == nil && next != ""; {
		var page list
		page, err = c.fetch(ctx, next)
		all.items, next = append(all.items, page.items...), page.next
	}
	return all, err
}

// syncMirror is a copy of a company's assignments that a client keeps by polling
// with updatedSince, as docs/integrating.md describes it.
type syncMirror struct {
	company     company
	watermark   string
	assignments map[int64]record
}

func newSyncMirror(c company) *syncMirror {
	return &syncMirror{company: c, watermark: "2020-01-01T00:00:00Z", assignments: map[int64]record{}}
}

// poll brings the mirror up to date. After an error it may be called again: the
// watermark is kept only when all pages were read.
func (m *syncMirror) poll(ctx context.Context, base string) error {
	all, err := m.company.fetchAll(ctx, base+"/api/v1/assignments?limit=100&updatedSince="+url.QueryEscape(m.watermark))
	if err != nil {
		return err
	}
	for _, a := range all.items {
		m.assignments[a.id()] = a
	}
	m.watermark = all.watermark
	return nil
}

// follow polls until ctx ends, each time at another server.
func (m *syncMirror) follow(ctx context.Context, servers *fleet) {
	for ctx.Err() == nil {
		_ = m.poll(ctx, servers.next()) // the next poll repeats it
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}
