package browser

import (
	"bytes"
	"cmp"
	"context"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/coursebridge/coursebridge/internal/app"
)

// startDemo runs the demo until the test ends and returns what it printed.
func startDemo(t *testing.T) app.DemoStarted {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	started, ended := make(chan app.DemoStarted, 1), make(chan error, 1)
	serve := app.ServeConfig{Listen: []string{"127.0.0.1:0"}, ReportTimeout: time.Minute, ReportLimit: 4, Retention: app.Retention{Events: 720 * time.Hour}}
	serve.Webhooks = app.WebhookConfig{RetryDelays: "1m,5m", Timeout: 10 * time.Second}
	go func() {
		ended <- app.Demo(ctx, app.Config{Database: "sqlite://unused", LogTo: io.Discard, LogLevel: "error"}, serve, app.NewDemoConfig(0, 0, 0),
			app.DemoOutput{Progress: io.Discard, Started: func(d app.DemoStarted) error { started <- d; return nil }})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case d := <-started:
		return d
	case err := <-ended:
		ended <- nil
		t.Fatalf("the demo ended: %v", err)
		return app.DemoStarted{}
	}
}

// pictures are the pages that the README and the documentation show.
var pictures = map[string]string{
	"home": "/cabinet", "employees": "/cabinet/employees", "assignments": "/cabinet/assignments",
	"reports": "/cabinet/reports/matrix", "deliveries": "/cabinet/deliveries",
}

// TestPictures writes the pictures of the documentation to PICTURES_DIR. Without
// that variable it does nothing.
func TestPictures(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("PICTURES_DIR")
	if dir == "" {
		return
	}
	b := demoTab(t)
	b.emulate(1280, "light")
	for name, path := range pictures {
		b.open(path)
		take := chromedp.CaptureScreenshot()
		if name == "home" {
			take = chromedp.FullScreenshot(100)
		}
		picture, err := chromedp.Run(b.ctx, take)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".png"), smaller(t, picture), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// smaller returns the same picture in fewer bytes: with the 256 colours that most of
// its pixels have, which is all that a page needs.
func smaller(t *testing.T, picture []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	count := map[color.Color]int{}
	bounds := full.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			count[full.At(x, y)]++
		}
	}
	colors := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return cmp.Compare(count[b], count[a]) })
	small := image.NewPaletted(bounds, colors[:min(256, len(colors))])
	draw.Draw(small, bounds, full, bounds.Min, draw.Src)
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, small); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// demoTab opens the demo's cabinet.
func demoTab(t *testing.T) *tab {
	t.Helper()
	link, err := url.Parse(startDemo(t).SignInURL)
	if err != nil {
		t.Fatal(err)
	}
	b := newTab(t, strings.TrimSuffix(link.String(), link.Path))
	b.open(link.Path)
	b.waitForText("Needs attention")
	return b
}
