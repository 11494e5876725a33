package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/server"
)

// inspection holds the additional listeners: metrics and pprof.
type inspection struct {
	servers []*http.Server
	wg      sync.WaitGroup
}

// startInspection opens the listeners that the configuration asks for.
func (a *App) startInspection(ctx context.Context, c InspectConfig, p *parts) (*inspection, error) {
	i := &inspection{}
	for _, l := range []struct {
		flag, address string
		handler       http.Handler
	}{
		{"metrics-listen", c.MetricsListen, server.MetricsHandler(p.registry)},
		{"debug-listen", c.DebugListen, pprofHandler()},
	} {
		if l.address == "" {
			continue
		}
		if err := i.serve(ctx, l.address, l.handler); err != nil {
			i.stop()
			return nil, fmt.Errorf("open --%s: %w", l.flag, err)
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

func pprofHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
