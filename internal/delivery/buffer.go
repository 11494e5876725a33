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
	// guaranteedSlots is how many attempts every endpoint may have under way at least.
	guaranteedSlots = 4
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

// deliveryBuffer holds what a queue has fetched and not finished. An event about an
// employee does not start while another one about the same employee is under way. In
// strict order, nothing starts before the result of the last attempt is recorded.
type deliveryBuffer struct {
	items         []domain.DueDelivery // in the order of their sequence
	oldestRead    time.Time            // no queued item was read before this
	nextFetchAt   time.Time            // when more is due; zero if nothing is known to be
	unfinished    map[int64]bool       // by sequence: queued, under way, or with a result not yet recorded
	busyEmployees map[int64]bool       // an attempt about them is under way
	inFlight      int
	window        int // how many attempts may be under way; it adapts to the receiver
	strict        bool
	perMinute     int64 // how many attempts the endpoint's own rate allows; 0: any number
	// fetchAgain says that the queue was woken while attempts were unfinished. A fetch
	// skips their deliveries, so it misses one that was put back meanwhile.
	fetchAgain bool
}

func newDeliveryBuffer(window int) deliveryBuffer {
	return deliveryBuffer{unfinished: map[int64]bool{}, busyEmployees: map[int64]bool{}, window: window}
}

func (b *deliveryBuffer) hasUnfinished() bool { return len(b.unfinished) > 0 }

// started returns how many attempts are under way or have a result that is not recorded.
func (b *deliveryBuffer) started() int { return len(b.unfinished) - len(b.items) }

// nextFetch returns when more should be fetched; ok is false if nothing is due, or
// enough is queued.
func (b *deliveryBuffer) nextFetch() (at time.Time, ok bool) {
	return b.nextFetchAt, !b.nextFetchAt.IsZero() && len(b.items) <= b.fetchSize()/4
}

// fetchSize returns how many deliveries to read: enough for some time, but the queue does
// nothing else meanwhile, and no more than the endpoint's rate lets start before they would
// have to be read again.
func (b *deliveryBuffer) fetchSize() int {
	size := min(max(4*b.window, minFetchSize), maxFetchSize)
	if b.perMinute > 0 {
		size = min(size, 1+int(b.perMinute*int64(keepQueued)/int64(time.Minute)))
	}
	return size
}

func (b *deliveryBuffer) unfinishedSequences() []int64 {
	return slices.Collect(maps.Keys(b.unfinished))
}

// dueAt notes that something is due at the time.
func (b *deliveryBuffer) dueAt(at time.Time) {
	if b.nextFetchAt.IsZero() || at.Before(b.nextFetchAt) {
		b.nextFetchAt = at
	}
}

// woken notes that something may be due now.
func (b *deliveryBuffer) woken(now time.Time) {
	b.dueAt(now)
	b.fetchAgain = b.started() > 0
}

// add queues deliveries of a read that was to return at most limit; 0 means that it was not
// to return any. If it returned as many, more may be due.
func (b *deliveryBuffer) add(due []domain.DueDelivery, limit int, readAt time.Time) {
	if limit > 0 {
		b.nextFetchAt = time.Time{}
		if len(due) >= limit {
			b.nextFetchAt = readAt
		}
	}
	if len(b.items) == 0 {
		b.oldestRead = readAt
	}
	for _, item := range due {
		if !b.unfinished[item.Sequence] {
			b.unfinished[item.Sequence] = true
			b.items = append(b.items, item)
		}
	}
	slices.SortFunc(b.items, func(x, y domain.DueDelivery) int { return cmp.Compare(x.Sequence, y.Sequence) })
}

// drop forgets what was not started, and schedules no fetch.
func (b *deliveryBuffer) drop() { b.dropAndFetch(time.Time{}) }

// dropAndFetch forgets what was not started, and schedules a fetch instead.
func (b *deliveryBuffer) dropAndFetch(at time.Time) {
	for i := range b.items {
		delete(b.unfinished, b.items[i].Sequence)
	}
	b.items, b.nextFetchAt = nil, at
}

// nextReady returns the index of the next delivery that may start, -1 if none may.
func (b *deliveryBuffer) nextReady() int {
	if b.inFlight >= b.window || b.started()-b.inFlight >= maxUnrecorded || b.strict && b.started() > 0 {
		return -1
	}
	return slices.IndexFunc(b.items, func(d domain.DueDelivery) bool { return !b.busyEmployees[d.EmployeeID] })
}

// take removes a delivery from the queue, for an attempt.
func (b *deliveryBuffer) take(i int) domain.DueDelivery {
	item := b.items[i]
	b.items = slices.Delete(b.items, i, i+1)
	b.inFlight++
	if item.EmployeeID != 0 {
		b.busyEmployees[item.EmployeeID] = true
	}
	return item
}

// markSent notes that an attempt has ended; its result is still to be recorded.
func (b *deliveryBuffer) markSent(item *domain.DueDelivery) {
	b.inFlight--
	delete(b.busyEmployees, item.EmployeeID)
}

// markRecorded notes that the result of an attempt was recorded, or that there is none. The
// delivery may be fetched again.
func (b *deliveryBuffer) markRecorded(item *domain.DueDelivery) {
	delete(b.unfinished, item.Sequence)
	if b.fetchAgain && b.started() == 0 {
		b.fetchAgain = false
		b.dueAt(time.Now())
	}
}

// adapt widens the window with every attempt that ends within slowAnswer, successful or
// not, and halves it when the receiver hangs.
func (b *deliveryBuffer) adapt(took time.Duration, least, most int) {
	if took < slowAnswer {
		b.window = min(b.window+1, most)
		return
	}
	b.window = max(b.window/2, least)
}
