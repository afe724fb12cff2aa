package daemon

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/floodmark/floodmark/internal/outward"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/wire"
)

// A remote is one open network address.
type remote struct {
	address  string
	listener net.Listener
}

// listenNetwork opens the addresses service.yaml names, each with TLS.
func (d *Daemon) listenNetwork(ctx context.Context) error {
	if len(d.opts.Service.Listen) == 0 {
		return nil
	}
	var err error
	if d.tokens, err = httpapi.OpenTokens(cmp.Or(d.opts.Service.Tokens, d.opts.Paths.Tokens), d.opts.Now); err != nil {
		return err
	}
	if err := d.openPeople(); err != nil {
		return err
	}
	for _, l := range d.opts.Service.Listen {
		c, err := serverTLS(l)
		if err != nil {
			return fmt.Errorf("listen on %s: %w", l.Address, err)
		}
		open, err := httpapi.Listen(ctx, l.Address, c)
		if err != nil {
			return err
		}
		d.network = append(d.network, remote{l.Address, open})
		d.closers = append(d.closers, closed(open))
	}
	return d.openNetworkConsole(ctx)
}

func serverTLS(l config.Listen) (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(l.Certificate, l.Key)
	if err != nil {
		return nil, err
	}
	if l.ClientCA == "" {
		return httpapi.ServerTLS(cert, nil), nil
	}
	data, err := os.ReadFile(l.ClientCA)
	if err != nil {
		return nil, err
	}
	pool, err := outward.Pool(data)
	if err != nil {
		return nil, fmt.Errorf("clientCA: %s: %w", l.ClientCA, err)
	}
	return httpapi.ServerTLS(cert, pool), nil
}

// networkServers serves agents, owners and laptops, once authenticated, at the network addresses.
func (d *Daemon) networkServers(o httpapi.Options, owner httpapi.Owner) []server {
	mux := http.NewServeMux()
	mux.Handle("/"+wire.HookServiceName+"/", httpapi.NewHookHandler(d.speakers, o))
	mux.Handle("/"+wire.OwnerServiceName+"/", httpapi.NewOwnerHandler(owner, o))
	mux.Handle("/"+wire.MachineServiceName+"/", httpapi.NewMachineHandler(d.fleetDesk(), o))
	if d.opts.Service.Metrics == config.MetricsListen {
		mux.Handle("GET /metrics", d.scrapes(o))
	}
	find := httpapi.Finders{Tokens: d.tokens}
	if d.people != nil {
		find.People = d.people
	}
	if d.machines != nil {
		find.Machines = httpapi.NewMachineFinder(d.machines, d.opts.Service.HasTenant)
	}
	outer := http.NewServeMux()
	outer.Handle("/", httpapi.Access(find, o, mux))
	d.serveLogin(outer)
	var list []server
	for _, r := range d.network {
		s := httpapi.NewServer(d.ready.probes(outer))
		s.ErrorLog = slog.NewLogLogger(d.opts.Log.Handler(), slog.LevelInfo) // such as a client that does not trust the certificate
		list = append(list, serverOf(r.address, r.listener, s))
	}
	return list
}

// serverOf runs an HTTP server on a listener.
func serverOf(name string, l net.Listener, s *http.Server) server {
	serve := func(ctx context.Context) error {
		s.BaseContext = func(net.Listener) context.Context { return ctx }
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	}
	stop := func(ctx context.Context) error {
		if err := s.Shutdown(ctx); err != nil {
			return errors.Join(err, s.Close())
		}
		return nil
	}
	return server{name, serve, stop}
}
