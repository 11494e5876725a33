package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// Begin starts a file and gives what it is written to, until the context ends.
type Begin func(ctx context.Context, name, contentType string) io.Writer

// Download answers with the file that write writes. An error before the file has
// begun is returned, for the usual answer; one after it breaks the connection, so
// that nobody takes a part for the whole.
func Download(ctx context.Context, w http.ResponseWriter, write func(Begin) error) error {
	// The limit for reading a request must not end the answer, and net/http would
	// end the request's context with it. A writer without deadlines has none to lift.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	var out *fileWriter
	err := write(func(ctx context.Context, name, contentType string) io.Writer {
		h := w.Header()
		h.Set("Content-Type", contentType)
		h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
		h.Set("Cache-Control", "no-store")
		out = newFileWriter(ctx, w)
		return out
	})
	if out == nil {
		return err
	}
	out.end()
	if err != nil {
		InfoFrom(ctx).Err = err
		panic(http.ErrAbortHandler)
	}
	return nil
}

// fileWriter sends its first bytes at once, and gives up when the context ends: a
// client that takes nothing would else block it for as long as it likes.
type fileWriter struct {
	ctx     context.Context
	w       io.Writer
	control *http.ResponseController
	begun   bool
	stop    func() bool
	stopped chan struct{}
}

func newFileWriter(ctx context.Context, w http.ResponseWriter) *fileWriter {
	f := &fileWriter{ctx: ctx, w: w, control: http.NewResponseController(w), stopped: make(chan struct{})}
	f.stop = context.AfterFunc(ctx, func() {
		defer close(f.stopped)
		// Whoever wrote the file ends its context too, before the last bytes are out.
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			_ = f.control.SetWriteDeadline(time.Unix(1, 0))
		}
	})
	return f
}

func (f *fileWriter) Write(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := f.w.Write(p)
	if !f.begun {
		f.begun = true
		_ = f.control.Flush() // a broken connection shows with the next write
	}
	return n, err
}

// end is for when nothing will be written any more: after it, the connection may
// already serve another request.
func (f *fileWriter) end() {
	if !f.stop() {
		<-f.stopped
	}
}
