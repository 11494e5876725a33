package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"
)

// chromium is the one browser of the package; every test has a profile of its own in it.
var chromium context.Context

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	// The first is the same browser without the parts that show its window.
	path, err := find("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
	if err != nil {
		if os.Getenv("COURSEBRIDGE_TEST_FULL") == "1" {
			fmt.Fprintln(os.Stderr, "the browser tests need Chromium:", err)
			return 1
		}
		return m.Run()
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-sync", true),
	)
	allocator, endAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	defer endAllocator()
	browser, endBrowser := chromedp.NewContext(allocator)
	defer endBrowser()
	if err := chromedp.Do(browser, chromedp.Navigate("about:blank")); err != nil {
		fmt.Fprintln(os.Stderr, "start Chromium:", err)
		return 1
	}
	chromium = browser
	code := m.Run()
	if err := chromedp.Cancel(browser); err != nil {
		fmt.Fprintln(os.Stderr, "end Chromium:", err)
	}
	return code
}

func find(names ...string) (string, error) {
	var err error
	for _, name := range names {
		var path string
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", err
}
