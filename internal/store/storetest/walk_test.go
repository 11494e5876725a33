package storetest_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// walk follows the cursors of a list from its first page to its last, calls see with
// every item and returns the watermark.
func (f testCompany) walk(filter domain.AssignmentFilter, limit int, see func(domain.Assignment)) *time.Time {
	f.t.Helper()
	page := domain.PageRequest{Number: 1, Limit: limit}
	for {
		list, err := f.s.Assignments(f.t.Context(), f.c.Company.ID, filter, page)
		if err != nil {
			f.t.Errorf("walk: %v", err)
			return nil
		}
		for _, a := range list.Items {
			see(a)
		}
		if !list.More {
			return list.Watermark
		}
		last := list.Items[len(list.Items)-1]
		page.After = &domain.Cursor{ID: last.ID}
		if filter.UpdatedSince != nil {
			page.After.At, page.After.Watermark = last.UpdatedAt.UnixMilli(), list.Watermark.UnixMilli()
		}
	}
}

func (f testCompany) walkEmployees(limit int, see func(domain.Employee)) {
	f.t.Helper()
	page := domain.PageRequest{Number: 1, Limit: limit}
	for {
		list := f.employees(domain.EmployeeFilter{}, page)
		for _, e := range list.Items {
			see(e)
		}
		if !list.More {
			return
		}
		page.After = &domain.Cursor{ID: list.Items[len(list.Items)-1].ID}
	}
}

// runDuring runs the writers repeatedly until during returns, each at least once.
func runDuring(during func(), writers ...func(turn int)) {
	var stop atomic.Bool
	var all, begun sync.WaitGroup
	begun.Add(len(writers))
	for _, w := range writers {
		all.Go(func() {
			for turn := 0; turn == 0 || !stop.Load(); turn++ {
				w(turn)
				if turn == 0 {
					begun.Done()
				}
			}
		})
	}
	begun.Wait()
	during()
	stop.Store(true)
	all.Wait()
}

// While lists are walked, records are added and removed. Those that exist throughout
// are seen exactly once.
func TestWalksSeeWhatStaysOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		exam := f.addAssessment()
		f.provisionAll("boss")
		for i := range 12 { // records that stay alternate with records that are removed
			f.provisionAll(fmt.Sprintf("keep%d", i), fmt.Sprintf("go%d", i))
			f.bulk(append(keys(numbered(fmt.Sprintf("keep%d-%%d", i), 0, 5), []string{"boss"}, exam),
				keys(numbered(fmt.Sprintf("go%d-%%d", i), 0, 5), []string{"boss"}, exam)...)...)
		}
		add := func(turn int) {
			id := fmt.Sprintf("new%d", turn)
			if _, _, err := f.provision(id, address(id)); err != nil {
				t.Error(err)
			}
			if _, err := f.tryAssign(item(id, "boss", exam).New); err != nil {
				t.Error(err)
			}
		}
		remove := func(turn int) {
			if turn >= 60 {
				return
			}
			a, err := s.AssignmentByExternalID(t.Context(), f.c.Company.ID, fmt.Sprintf("go%d-%d", turn/5, turn%5))
			if err == nil {
				err = s.Revoke(t.Context(), f.c, a.ID)
			}
			if err != nil {
				t.Error(err)
			}
			if turn < 12 {
				if err := f.erase(fmt.Sprintf("go%d", turn)); err != nil {
					t.Error(err)
				}
			}
		}
		byID, byChange, people := visitCounts{}, visitCounts{}, visitCounts{}
		runDuring(func() {
			f.walk(domain.AssignmentFilter{}, 7, func(a domain.Assignment) { byID[a.ExternalID]++ })
			f.walk(domain.AssignmentFilter{UpdatedSince: ptr(time.UnixMilli(0))}, 7, func(a domain.Assignment) { byChange[a.ExternalID]++ })
			f.walkEmployees(3, func(e domain.Employee) { people[e.ExternalID]++ })
		}, add, remove)
		byID.want(t, "assignments by id", "keep%d-%d", 12, 5)
		byChange.want(t, "assignments by change", "keep%d-%d", 12, 5)
		people.want(t, "employees", "keep%d", 12, 0)
	})
}

// visitCounts counts how often each record was seen.
type visitCounts map[string]int

func (s visitCounts) want(t *testing.T, what, format string, n, m int) {
	t.Helper()
	for i := range n {
		names := []string{fmt.Sprintf(format, i)}
		if m > 0 {
			names = numbered(fmt.Sprintf("keep%d-%%d", i), 0, m)
		}
		for _, name := range names {
			if s[name] != 1 {
				t.Errorf("%s: %s was seen %d times", what, name, s[name])
			}
		}
	}
	for name, times := range s {
		if times > 1 {
			t.Errorf("%s: %s was seen %d times", what, name, times)
		}
	}
}

// follower polls for changes as an integrating system does: each poll starts at the
// watermark of the previous one.
type follower struct {
	f     testCompany
	since time.Time
	last  map[int64]domain.Points
	polls chan struct{} // receives after each poll if someone waits for it
}

func (p *follower) poll() {
	at := p.f.walk(domain.AssignmentFilter{UpdatedSince: &p.since}, 20, func(a domain.Assignment) { p.last[a.ID] = a.Percent })
	if at != nil {
		p.since = *at
	}
	select {
	case p.polls <- struct{}{}:
	default:
	}
}

// hold changes an assignment and keeps the transaction open for some polls.
func (p *follower) hold(ctx context.Context, id int64) error {
	return p.f.s.Engine().Write(ctx, func(tx db.Tx) error {
		if err := tx.Send(ctx, nil); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE assignments SET percent = percent + 1, updated_at = $1 WHERE company_id = $2 AND id = $3`,
			tx.Now(), p.f.c.Company.ID, id); err != nil {
			return err
		}
		for range 2 {
			<-p.polls
		}
		return nil
	})
}

// No change is missed, however the transactions of the writers overlap.
func TestNoChangeIsMissed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1")
		_, results := f.bulk(keys(numbered("A%02d", 0, 40), []string{"E1"}, f.addAssessment())...)
		p := &follower{f: f, last: map[int64]domain.Points{}, polls: make(chan struct{})}
		p.poll()
		var writers sync.WaitGroup
		for w := range 3 {
			writers.Go(func() {
				for turn := range 8 {
					if err := p.hold(t.Context(), results[w*8+turn].Assignment.ID); err != nil {
						t.Error(err)
					}
				}
			})
			writers.Go(func() {
				for turn := range 30 {
					id := results[24+(w*5+turn)%16].Assignment.ID
					f.report(progress(fmt.Sprintf("w%d-%d", w, turn), id, time.Time{}, domain.Points(w*30+turn+1)*1_00))
					if _, err := f.tryAssign(item(fmt.Sprintf("N%d-%d", w, turn), "E1", results[0].Assignment.CourseID).New); err != nil {
						t.Error(err)
					}
				}
			})
		}
		done := make(chan struct{})
		go func() { writers.Wait(); close(done) }()
		for open := true; open; {
			select {
			case <-done:
				open = false
			default:
			}
			p.poll()
		}
		all := map[int64]domain.Points{}
		f.walk(domain.AssignmentFilter{}, 500, func(a domain.Assignment) { all[a.ID] = a.Percent })
		equal(t, "written", len(all), 40+90)
		equal(t, "what the follower knows", p.last, all)
	})
}
