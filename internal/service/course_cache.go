package service

import (
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	// courseAge bounds how stale a list can be should a notification get lost.
	courseAge       = time.Second
	maxCachedCourse = 10_000
)

// courseCache keeps the companies' course lists, which are read far more often
// than they change. Where the database tells its generation without being asked,
// a list is used only while nothing at all was committed; elsewhere changes are
// notified, and until somebody watches for them nothing is kept.
type courseCache struct {
	mu       sync.RWMutex
	entries  map[int64]cachedCourses
	watching bool
	cleared  uint64
}

type cachedCourses struct {
	list       []domain.Course
	generation uint64
	at         time.Time
}

func (c *courseCache) get(company int64, generation uint64, known bool) ([]domain.Course, bool) {
	c.mu.RLock()
	e, ok := c.entries[company]
	c.mu.RUnlock()
	if !ok {
		return nil, false
	}
	if known {
		return e.list, e.generation == generation
	}
	return e.list, time.Since(e.at) < courseAge
}

// epoch is taken before a list is read and handed to put with it: a list that
// was read before a change was notified is not kept after it.
func (c *courseCache) epoch() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.cleared
}

func (c *courseCache) put(company int64, list []domain.Course, generation, epoch uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.watching || epoch != c.cleared {
		return
	}
	if len(c.entries) >= maxCachedCourse {
		clear(c.entries)
	}
	c.entries[company] = cachedCourses{list: list, generation: generation, at: time.Now()}
}

// changed is told by whoever watches for changes; from then on lists are kept.
func (c *courseCache) changed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watching = true
	c.drop()
}

// forget drops every list: this process has just changed a course itself.
func (c *courseCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop()
}

func (c *courseCache) drop() {
	c.cleared++
	clear(c.entries)
}
