package httpapi_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// download serves the file that write writes, and reads it as a client.
func download(t *testing.T, write func(ctx context.Context, begin httpapi.Begin) error) (string, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := httpapi.Download(r.Context(), w, func(begin httpapi.Begin) error { return write(r.Context(), begin) }); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// A writer of a file ends its context when it returns, as contexts with a time
// limit are to be. The end of the file must still get through.
func TestDownloadSurvivesTheEndOfItsContext(t *testing.T) {
	t.Parallel()
	for range 50 {
		text, err := download(t, func(ctx context.Context, begin httpapi.Begin) error {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			_, err := io.WriteString(begin(ctx, "a.csv", "text/csv"), "a,b\r\n")
			return err
		})
		if err != nil || text != "a,b\r\n" {
			t.Fatalf("got %q, %v", text, err)
		}
	}
}

// A file whose time is over never looks whole.
func TestDownloadBreaksWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	text, err := download(t, func(ctx context.Context, begin httpapi.Begin) error {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		out := begin(ctx, "a.csv", "text/csv")
		for {
			if _, err := io.WriteString(out, "a,b\r\n"); err != nil {
				return err
			}
		}
	})
	if err == nil {
		t.Fatalf("got a whole file of %d bytes", len(text))
	}
}
