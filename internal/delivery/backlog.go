package delivery

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	// firstWindow is how many attempts may be under way to an endpoint that has not
	// answered yet.
	firstWindow = 4
	// slowAnswer is how long an answer may take before the window shrinks.
	slowAnswer = 3 * time.Second
	// keepQueued bounds how long ago a delivery that is about to be sent was read.
	keepQueued = 3 * time.Second
	// maxUnrecorded is how many results of an endpoint may wait for the database
	// before nothing more is started.
	maxUnrecorded = 256

	// minFetchSize and maxFetchSize bound how many deliveries are read at a time.
	minFetchSize = 32
	maxFetchSize = 256
)

// backlog is what a queue knows of its endpoint's deliveries. An event about an
// employee does not start while another one about the same employee is under way. In
// strict order, nothing starts before the result of the last attempt is recorded.
type backlog struct {
	items         []domain.DueDelivery // in the order of their sequence
	itemsReadAt   time.Time
	nextFetchAt   time.Time          // when more is due; zero if nothing is known to be
	unfinished    map[int64]struct{} // by sequence: queued, under way, or not recorded yet
	busyEmployees map[int64]int      // how many attempts about each employee are under way
	inFlight      int
	unrecorded    int
	window        int
	strict        bool
	// fetchAgain says that the queue was woken while attempts were unfinished. A fetch
	// skips their deliveries, so it misses one that was put back meanwhile.
	fetchAgain bool
}

func newBacklog(window int) backlog {
	return backlog{unfinished: map[int64]struct{}{}, busyEmployees: map[int64]int{}, window: window}
}

func (b *backlog) isBusy() bool { return len(b.items) > 0 || b.inFlight > 0 || b.unrecorded > 0 }

// nextFetch returns when more should be fetched; ok is false if nothing is due, or
// enough is queued.
func (b *backlog) nextFetch() (at time.Time, ok bool) {
	return b.nextFetchAt, !b.nextFetchAt.IsZero() && len(b.items) <= b.window
}

func (b *backlog) fetchSize() int { return min(max(8*b.window, minFetchSize), maxFetchSize) }

func (b *backlog) unfinishedSequences() []int64 { return slices.Collect(maps.Keys(b.unfinished)) }

// dueAt notes that something is due at the time.
func (b *backlog) dueAt(at time.Time) {
	if b.nextFetchAt.IsZero() || at.Before(b.nextFetchAt) {
		b.nextFetchAt = at
	}
}

// woken notes that something may be due now.
func (b *backlog) woken(now time.Time) {
	b.dueAt(now)
	b.fetchAgain = b.fetchAgain || b.inFlight+b.unrecorded > 0
}

// add queues deliveries that were read at the time, at most limit. If there were as
// many, more may be due.
func (b *backlog) add(due []domain.DueDelivery, limit int, at time.Time) {
	if limit > 0 {
		if b.nextFetchAt = at; len(due) < limit {
			b.nextFetchAt = time.Time{}
		}
	}
	if len(b.items) == 0 {
		b.itemsReadAt = at
	}
	for _, item := range due {
		if _, known := b.unfinished[item.Sequence]; !known {
			b.unfinished[item.Sequence] = struct{}{}
			b.items = append(b.items, item)
		}
	}
	slices.SortFunc(b.items, func(x, y domain.DueDelivery) int { return cmp.Compare(x.Sequence, y.Sequence) })
}

// clear drops what was not started.
func (b *backlog) clear() {
	for i := range b.items {
		delete(b.unfinished, b.items[i].Sequence)
	}
	b.items = nil
}

// restart drops what was not started, and has the next fetch made at the time;
// none if it is zero.
func (b *backlog) restart(nextFetchAt time.Time) {
	b.clear()
	b.nextFetchAt = nextFetchAt
}

// nextReady returns the index of the next delivery that may start, -1 if none may.
func (b *backlog) nextReady() int {
	if b.inFlight >= b.window || b.unrecorded >= maxUnrecorded || b.strict && b.inFlight+b.unrecorded > 0 {
		return -1
	}
	return slices.IndexFunc(b.items, func(d domain.DueDelivery) bool { return b.busyEmployees[d.EmployeeID] == 0 })
}

// start takes a delivery out of the queue.
func (b *backlog) start(i int) domain.DueDelivery {
	item := b.items[i]
	b.items = slices.Delete(b.items, i, i+1)
	b.inFlight++
	if item.EmployeeID != 0 {
		b.busyEmployees[item.EmployeeID]++
	}
	return item
}

// sent notes that an attempt ended; its result is still to be recorded.
func (b *backlog) sent(item *domain.DueDelivery) {
	b.inFlight--
	b.unrecorded++
	if b.busyEmployees[item.EmployeeID]--; b.busyEmployees[item.EmployeeID] <= 0 {
		delete(b.busyEmployees, item.EmployeeID)
	}
}

// recorded notes that a delivery's result is in the database.
func (b *backlog) recorded(item *domain.DueDelivery) {
	b.unrecorded--
	delete(b.unfinished, item.Sequence)
	if b.fetchAgain && b.inFlight+b.unrecorded == 0 {
		b.fetchAgain = false
		b.dueAt(time.Now())
	}
}

// adapt widens the window with every prompt answer, whatever it says, and narrows
// it when the receiver hangs.
func (b *backlog) adapt(took time.Duration, least, most int) {
	if took < slowAnswer {
		b.window = min(b.window+1, most)
		return
	}
	b.window = max(b.window/2, least)
}
