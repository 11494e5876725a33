package service

import (
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	maxCachedCourseLists = 10_000
	// maxCourseAge bounds how long a list is used even if its version stays: during
	// an upgrade an older program may change courses without raising it.
	maxCourseAge = 10 * time.Second
)

// courseCache keeps the companies' course lists, which are read far more often
// than they change. The Watcher knows which version of them is current.
type courseCache struct {
	mu    sync.RWMutex
	lists map[int64]cachedCourses
}

type cachedCourses struct {
	list    []domain.Course
	version int64
	readAt  time.Time
}

func (c *courseCache) get(company, version int64) ([]domain.Course, bool) {
	c.mu.RLock()
	cached, ok := c.lists[company]
	c.mu.RUnlock()
	return cached.list, ok && cached.version == version && time.Since(cached.readAt) < maxCourseAge
}

func (c *courseCache) put(company int64, cached cachedCourses) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lists) >= maxCachedCourseLists {
		clear(c.lists)
	}
	c.lists[company] = cached
}
