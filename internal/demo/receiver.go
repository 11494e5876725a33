package demo

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/client"
)

// kept is how many received webhooks an inbox remembers.
const kept = 100

// Received is a webhook as it arrived.
type Received struct {
	Number   int64 // counts what the inbox has received
	At       time.Time
	Receiver string // the name of the receiver
	Delivery string
	Event    string
	Sequence int64
	Attempt  int
	Problem  string // why the signature is not valid; empty if it is
	Status   int    // what the receiver answered
	Body     []byte
}

// Inbox remembers what receivers got.
type Inbox struct {
	mu    sync.Mutex
	total int64
	items []Received // the oldest first
}

// Latest returns what arrived last, the newest first, and how many arrived in all.
func (b *Inbox) Latest() ([]Received, int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := slices.Clone(b.items)
	slices.Reverse(out)
	return out, b.total
}

func (b *Inbox) add(r Received) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total++
	r.Number = b.total
	b.items = append(b.items, r)
	if len(b.items) > kept {
		b.items = slices.Delete(b.items, 0, len(b.items)-kept)
	}
}

// Receiver is a webhook target that verifies each request and remembers it in an
// inbox.
type Receiver struct {
	Name string
	URL  string

	inbox  *Inbox
	answer func(n int64) int
	mu     sync.Mutex
	secret string
	count  int64
	server *http.Server
	done   chan struct{}
}

// NewReceiver listens on a free local port. It answers request n, counted from 1,
// with the status that answer returns.
func NewReceiver(ctx context.Context, name string, inbox *Inbox, answer func(n int64) int) (*Receiver, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Receiver{Name: name, URL: "http://" + l.Addr().String() + "/events", inbox: inbox, answer: answer, done: make(chan struct{})}
	r.server = &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: r}
	go func() {
		defer close(r.done)
		if err := r.server.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			return
		}
	}()
	return r, nil
}

// SetSecret sets the secret that signatures are verified with.
func (r *Receiver) SetSecret(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = secret
}

const longestBody = 1 << 20

// ServeHTTP receives a webhook.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, longestBody))
	if err != nil {
		http.Error(w, "The body could not be read.", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	r.count++
	n, secret := r.count, r.secret
	r.mu.Unlock()
	got := Received{At: time.Now(), Receiver: r.Name, Delivery: req.Header.Get("X-Service-Delivery"), Status: r.answer(n), Body: body}
	got.Sequence, _ = strconv.ParseInt(req.Header.Get("X-Service-Sequence"), 10, 64)
	got.Attempt, _ = strconv.Atoi(req.Header.Get("X-Service-Attempt"))
	if err := client.Verify(req.Header, body, got.At, secret); err != nil {
		got.Problem, got.Status = err.Error(), http.StatusUnauthorized
	}
	var event struct{ Event string }
	if json.Unmarshal(body, &event) == nil {
		got.Event = event.Event
	}
	r.inbox.add(got)
	w.WriteHeader(got.Status)
	_, _ = io.WriteString(w, http.StatusText(got.Status)+"\n")
}

// Close stops listening.
func (r *Receiver) Close() {
	_ = r.server.Close()
	<-r.done
}
