package load

import (
	"os"
	"testing"
	"time"
)

// BenchmarkStart measures the size of the binary, the time until it is ready on a new
// SQLite file, and its memory when idle.
func BenchmarkStart(b *testing.B) {
	info, err := os.Stat(binary(b))
	if err != nil {
		b.Fatal(err)
	}
	var ready, memory []float64
	for range 11 {
		p := serve(b, engines["sqlite"](b))
		ready = append(ready, float64(p.ready.Microseconds())/1000)
		p.kill()
	}
	for b.Loop() {
		p := serve(b, engines["sqlite"](b))
		<-time.After(8 * time.Second) // past the first sweeps and polls
		memory = append(memory, p.rss(b))
		p.kill()
	}
	below(b, "binary, CGO_ENABLED=0", float64(info.Size())/1e6, 45, "MB-binary")
	below(b, "ready on a new SQLite file", median(ready), 300, "ms-ready")
	below(b, "idle resident memory", median(memory), 45, "MB-idle")
}
