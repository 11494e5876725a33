package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/transfer"
)

const (
	// smallBody is how much of a body is read without a slot.
	smallBody = 16 << 10
	// DefaultLargeBodies is how many larger bodies a server holds in memory at once. One of
	// an API has up to 1 MiB. Unlimited, 600 forms that strangers never finished took 600 MiB.
	DefaultLargeBodies = 64
	// bodyGrace is how long a body may arrive before another one may take its slot.
	bodyGrace = time.Second
	// bodyWait is how long a body waits for a slot.
	bodyWait = 20 * time.Second
)

var (
	errTooManyBodies = domain.Errorf(domain.CodeUnavailable, "Too many large requests are being received. Try again in a few seconds.")
	errBodyTooSlow   = domain.Errorf(domain.CodeUnavailable, "The request arrived too slowly while others were waiting. Try again, or send less at once.")
)

// requestBody notes how far a handler has read the body of its request. Past smallBody
// bytes it needs a slot, which it keeps until the request ends.
type requestBody struct {
	io.ReadCloser
	started, finished bool
	isDrained         bool // what follows is discarded, so that it takes no memory
	size              int64
	slot              *transfer.Slot // nil while the body is small
	queue             *transfer.Queue
	request           *httpapi.Context
	writer            http.ResponseWriter
}

func (b *requestBody) Read(p []byte) (int, error) {
	b.started = true
	if !b.isDrained && b.slot == nil {
		if b.size < smallBody {
			p = p[:min(int64(len(p)), smallBody-b.size)]
		} else if err := b.takeSlot(); err != nil {
			return 0, err
		}
	}
	n, err := b.ReadCloser.Read(p)
	b.size += int64(n)
	b.finished = b.finished || errors.Is(err, io.EOF)
	if b.slot == nil || b.isDrained {
		return n, err
	}
	isKept := b.slot.Count(n)
	if b.finished {
		isKept = b.slot.Complete()
	}
	if !isKept {
		return n, errBodyTooSlow
	}
	return n, err
}

// takeSlot waits for a slot. Codes: unavailable.
func (b *requestBody) takeSlot() error {
	ctx, cancel := context.WithTimeoutCause(b.request, bodyWait, errTooManyBodies)
	defer cancel()
	var err error
	b.slot, err = b.queue.Enter(ctx, clientOf(&b.request.Info), func() {
		_ = http.NewResponseController(b.writer).SetReadDeadline(time.Unix(1, 0))
	})
	return err
}

// clientOf returns whom a request counts for: its company, or the network of a stranger.
func clientOf(i *httpapi.Info) string {
	if i.CompanyID != 0 {
		return strconv.FormatInt(i.CompanyID, 10)
	}
	bits := i.Address.BitLen()
	if i.Address.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(i.Address, bits).Masked().String()
}

// release returns the slot if the body has one.
func (b *requestBody) release() {
	if b.slot != nil {
		b.slot.Leave()
	}
}
