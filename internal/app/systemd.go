package app

import (
	"context"
	"net"
	"os"
	"strconv"
	"time"
)

// notifySystemd sends a state to systemd, if it has started this process and wants to
// know. It fails only if systemd does not listen, which is no reason to stop.
func notifySystemd(state string) {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return
	}
	c, err := (&net.Dialer{}).DialContext(context.Background(), "unixgram", path) // Go reads a leading @ as the abstract name that it is
	if err != nil {
		return
	}
	_, _ = c.Write([]byte(state))
	_ = c.Close()
}

// feedWatchdog reports to systemd's watchdog until ctx ends, twice as often as it asks
// for. A process that is stopped, or that has no time left for its goroutines, does not.
func feedWatchdog(ctx context.Context) {
	micros, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	pid := os.Getenv("WATCHDOG_PID")
	if err != nil || micros <= 0 || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return
	}
	tick := time.NewTicker(time.Duration(micros) * time.Microsecond / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			notifySystemd("WATCHDOG=1")
		}
	}
}
