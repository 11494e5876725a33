package browser

import (
	"context"
	"os"
	"strconv"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// networkConditions are the parameters of emulateNetwork, which this version of cdproto has no
// longer and Debian's Chromium has.
type networkConditions struct {
	Offline  bool    `json:"offline"`
	Latency  float64 `json:"latency"` // in milliseconds
	Download float64 `json:"downloadThroughput"`
	Upload   float64 `json:"uploadThroughput"`
}

var emulateNetwork = cdp.Command[networkConditions, cdp.Empty]{Method: "Network.emulateNetworkConditions"}

// slowDown makes the window as slow as BROWSER_SLOWDOWN says: 5 is a fifth of the processor's
// speed and at least 100 ms for each answer. It shows which tests, and which pages, work on a
// quick machine only. Without the variable it does nothing.
func (b *tab) slowDown() {
	b.Helper()
	text := os.Getenv("BROWSER_SLOWDOWN")
	if text == "" {
		return
	}
	factor, err := strconv.ParseFloat(text, 64)
	if err != nil || factor < 1 {
		b.Fatalf("BROWSER_SLOWDOWN=%s: want a number of at least 1", text)
	}
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: factor}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, emulateNetwork, networkConditions{Latency: 20 * factor, Download: -1, Upload: -1})
		return err
	}))
}
