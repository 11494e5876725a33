package delivery

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkSend sends attempts of a usual size to a receiver in the same process, which takes its share of the cores.
func BenchmarkSend(b *testing.B) {
	receiver := newReceiver(b, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNoContent)
	})
	sender := newSender(b, Config{Guard: local})
	attempt := newAttempt(receiver.URL + "/hook")
	attempt.Body = []byte(`{"data":"` + strings.Repeat("x", 700) + `"}`)
	b.ReportAllocs()
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if out := sender.Send(b.Context(), attempt); !out.OK() {
				b.Errorf("%s: %s", out.Kind, out.Detail)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
}

func BenchmarkSign(b *testing.B) {
	attempt := newAttempt("")
	body := []byte(`{"data":"` + strings.Repeat("x", 700) + `"}`)
	sender := newSender(b, Config{})
	attempt.Body = body
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sender.headers(&attempt, sender.config.Now()); err != nil {
			b.Fatal(err)
		}
	}
}
