package sqlite

import (
	"hash/maphash"
	"os"
	"sync"
)

// headerSize is the first copy of the WAL-index header. It holds a counter that
// every commit to the database moves, in whatever process.
// https://www.sqlite.org/walformat.html describes it.
const headerSize = 48

// generation reads the WAL-index header of an open database. Its file is closed
// only after the database: closing any descriptor of the file would drop the
// locks that SQLite holds on it.
type generation struct {
	once sync.Once
	file *os.File
	seed maphash.Seed
}

func (g *generation) read(path string) (uint64, bool) {
	g.once.Do(func() {
		g.seed = maphash.MakeSeed()
		g.file, _ = os.Open(path + "-shm")
	})
	if g.file == nil {
		return 0, false
	}
	var header [headerSize]byte
	if n, err := g.file.ReadAt(header[:], 0); err != nil || n != headerSize {
		return 0, false
	}
	return maphash.Bytes(g.seed, header[:]), true
}

func (g *generation) close() {
	g.once.Do(func() {})
	if g.file != nil {
		_ = g.file.Close()
	}
}

// Generation changes with every commit to the file.
func (e *Engine) Generation() (uint64, bool) { return e.generation.read(e.path) }
