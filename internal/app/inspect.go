package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/server"
)

// inspection holds the additional listeners: metrics and pprof.
type inspection struct {
	servers []*http.Server
	wg      sync.WaitGroup
}

// profileMemory begins to sample allocations, as often as Go does by default.
var profileMemory = sync.OnceFunc(func() { runtime.MemProfileRate = 512 << 10 })

// startInspection opens the listeners that the configuration asks for.
func (a *App) startInspection(ctx context.Context, c InspectConfig, p *parts) (*inspection, error) {
	i := &inspection{}
	if c.DebugListen != "" {
		profileMemory()
	}
	for _, l := range []struct {
		flag, address string
		handler       http.Handler
	}{
		{"metrics-listen", c.MetricsListen, server.MetricsHandler(p.registry)},
		{"debug-listen", c.DebugListen, a.debugHandler()},
	} {
		if l.address == "" {
			continue
		}
		if err := i.serve(ctx, l.address, l.handler); err != nil {
			i.stop()
			return nil, fmt.Errorf("open --%[1]s: %[2]w; stop what uses the address, or choose another --%[1]s", l.flag, err)
		}
		a.log.Info("inspection listener is open", "flag", l.flag, "address", l.address)
	}
	return i, nil
}

func (i *inspection) serve(ctx context.Context, address string, h http.Handler) error {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	i.servers = append(i.servers, s)
	i.wg.Go(func() { _ = s.Serve(l) }) // it ends with http.ErrServerClosed
	return nil
}

func (i *inspection) stop() {
	for _, s := range i.servers {
		_ = s.Close()
	}
	i.wg.Wait()
}

// debugHandler serves pprof and the level of the log.
func (a *App) debugHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/log-level", func(w http.ResponseWriter, _ *http.Request) { a.writeLevel(w) })
	mux.HandleFunc("PUT /debug/log-level", a.setLevel)
	return mux
}

func (a *App) writeLevel(w http.ResponseWriter) {
	_, _ = fmt.Fprintln(w, strings.ToLower(a.level.Level().String()))
}

// setLevel changes the level of the log until the process ends.
func (a *App) setLevel(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 100))
	var level slog.Level
	if err == nil {
		err = level.UnmarshalText(bytes.TrimSpace(text))
	}
	if err != nil {
		http.Error(w, "Send debug, info, warn or error.", http.StatusBadRequest)
		return
	}
	a.level.Set(level)
	a.log.Warn("the log level was changed", "log_level", strings.ToLower(level.String()))
	a.writeLevel(w)
}
