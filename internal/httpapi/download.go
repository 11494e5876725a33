package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// Begin starts a file and returns the writer of its contents, which fails once the
// context ends.
type Begin func(ctx context.Context, name, contentType string) io.Writer

// Download answers with the file that write writes. It returns an error from
// before the file has begun, so that the caller can answer with it. A later error
// breaks the connection, so that no client takes a part for the whole file.
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

// fileWriter sends the first bytes at once and fails when the context ends.
// Otherwise a client that reads nothing would block it without limit.
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
		// The context is also cancelled after the last write, before the bytes are out.
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

// end must be called after the last write: after it, the connection may serve
// another request.
func (f *fileWriter) end() {
	if !f.stop() {
		<-f.stopped
	}
}
