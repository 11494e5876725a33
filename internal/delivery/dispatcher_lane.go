package delivery

import (
	"container/heap"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	// slowStart is the window of an endpoint that nothing is known of: until it has
	// answered, few attempts are under way.
	slowStart = 4
	// stuck is how long a request may take to be sent before the next one to the
	// same endpoint no longer waits for it.
	stuck = time.Second
	// slowAnswer is how long an answer may take before the window shrinks.
	slowAnswer = 3 * time.Second
	// keepQueued bounds how old what is about to be sent may be: people are erased
	// and endpoints changed meanwhile.
	keepQueued = 2 * time.Second

	minFetch = 32
	maxFetch = 256
)

// status says who sends a lane's deliveries.
type status int

const (
	free    status = iota // nobody, as far as is known
	owned                 // this dispatcher, until the lease ends
	foreign               // another one, until its lease ends
)

// lane is what the dispatcher knows of one endpoint.
type lane struct {
	key      domain.EndpointKey
	status   status
	until    time.Time // end of the lease, ours or another's
	endpoint domain.Endpoint
	secret   string
	previous string

	queue     []domain.DueDelivery
	queuedAt  time.Time
	more      bool               // the last fetch was full
	known     map[int64]struct{} // queued, under way, or not recorded yet
	lately    map[int64]struct{} // recorded while a fetch was running, which may not have seen it
	written   <-chan struct{}    // closed once the latest request is out; nil before the first
	inFlight  int
	unwritten int
	window    int

	dirty    bool // something may be due that is not here
	tell     bool // if another owns it, it must be told
	fetching bool
	parking  bool
	next     time.Time // when something will be due; zero if unknown

	waiting bool      // it is in line for a slot
	alarm   time.Time // of its next visit
}

func newLane(key domain.EndpointKey, window int) *lane {
	return &lane{key: key, known: map[int64]struct{}{}, lately: map[int64]struct{}{}, window: window}
}

// busy says whether the lease is needed.
func (l *lane) busy() bool {
	return len(l.queue) > 0 || l.inFlight > 0 || l.unwritten > 0 || l.fetching || l.parking
}

// due notes that something will be due at the time.
func (l *lane) due(at time.Time) {
	if l.next.IsZero() || at.Before(l.next) {
		l.next = at
	}
}

// clear lets go of what was not started.
func (l *lane) clear() {
	for i := range l.queue {
		delete(l.known, l.queue[i].Seq)
	}
	l.queue, l.more = nil, false
}

// lost gives the lane to another owner.
func (l *lane) lost(until time.Time) {
	l.clear()
	l.status, l.until = foreign, until
}

// room is how many deliveries are worth fetching: as many as will be sent soon.
func (l *lane) room() int { return min(max(8*l.window, minFetch), maxFetch) }

// skip lists what a fetch must leave out.
func (l *lane) skip() []int64 {
	out := make([]int64, 0, len(l.known))
	for seq := range l.known {
		out = append(out, seq)
	}
	return out
}

// take puts fetched deliveries in line, in the order of their events.
func (l *lane) take(due []domain.DueDelivery, now time.Time) {
	if len(l.queue) == 0 {
		l.queuedAt = now
	}
	sorted := true
	for _, item := range due {
		_, here := l.known[item.Seq]
		if _, past := l.lately[item.Seq]; here || past {
			continue
		}
		if n := len(l.queue); n > 0 && order(l.queue[n-1], item) > 0 {
			sorted = false
		}
		l.known[item.Seq] = struct{}{}
		l.queue = append(l.queue, item)
	}
	if !sorted {
		slices.SortFunc(l.queue, order)
	}
}

func order(a, b domain.DueDelivery) int {
	if c := a.DueAt.Compare(b.DueAt); c != 0 {
		return c
	}
	return int(a.Seq - b.Seq)
}

// adapt widens the window with every prompt answer, whatever it says, and
// narrows it when the receiver hangs.
func (l *lane) adapt(took time.Duration, least, most int) {
	if took < slowAnswer {
		l.window = min(l.window+1, most)
		return
	}
	l.window = max(l.window/2, least)
}

// alarms are the lanes' next visits, earliest first.
type alarms struct{ list alarmList }

type alarm struct {
	at   time.Time
	lane *lane
}

// set asks for a visit at the time, unless an earlier one is set.
func (a *alarms) set(l *lane, at time.Time) {
	if !l.alarm.IsZero() && !at.Before(l.alarm) {
		return
	}
	l.alarm = at
	heap.Push(&a.list, alarm{at, l})
}

// unset leaves the entry behind; pop passes over it.
func (a *alarms) unset(l *lane) { l.alarm = time.Time{} }

// pop gives a lane whose time has come, nil if there is none.
func (a *alarms) pop(now time.Time) *lane {
	for len(a.list) > 0 && !a.list[0].at.After(now) {
		first, _ := heap.Pop(&a.list).(alarm) // it holds nothing else
		if first.at.Equal(first.lane.alarm) {
			first.lane.alarm = time.Time{}
			return first.lane
		}
	}
	return nil
}

func (a *alarms) next() (time.Time, bool) {
	if len(a.list) == 0 {
		return time.Time{}, false
	}
	return a.list[0].at, true
}

type alarmList []alarm

func (l alarmList) Len() int           { return len(l) }
func (l alarmList) Less(i, j int) bool { return l[i].at.Before(l[j].at) }
func (l alarmList) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }

func (l *alarmList) Push(x any) {
	a, _ := x.(alarm)
	*l = append(*l, a)
}

func (l *alarmList) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}
