package daemon

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/rules/liverules"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/service/telemetry"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/monitor"
)

// openTelemetry opens the metrics, traces and events that service.yaml asks for; by default none. It
// is called before the monitor is opened, so that telemetry is closed after the monitor.
func (d *Daemon) openTelemetry(ctx context.Context) error {
	s := d.opts.Service
	if s.Metrics == "" && s.Traces == "" && s.Events == "" {
		return nil
	}
	var err error
	d.telemetry, err = telemetry.Open(ctx, telemetry.Options{
		Version: d.opts.Version, Traces: s.Traces, Events: s.Events, Now: d.opts.Now, Log: d.opts.Log,
		Catalog:    func() *catalog.Catalog { return d.live.Rules().Catalog },
		Occupancy:  func() monitor.Occupancy { return d.monitor.Occupancy() }, // opened after this
		Checkpoint: d.proof.lastSigned(d.started),
		Paused:     func() int { return d.monitor.Pausing() },
		Differ:     func(what string) int { return d.nodes.difference().Counts[what] },
	})
	if err != nil {
		return err
	}
	d.closers = append(d.closers, d.telemetry.Close)
	if s.Metrics == "" || s.Metrics == config.MetricsListen {
		return nil
	}
	if d.metrics, err = new(net.ListenConfig).Listen(ctx, "tcp", s.Metrics); err != nil {
		return fmt.Errorf("show metrics on %s: %w", s.Metrics, err)
	}
	d.closers = append(d.closers, closed(d.metrics))
	return nil
}

// observe passes what happened to the watchers.
func (d *Daemon) observe(o monitor.Observation) {
	d.marks.Moved(o.Session) // also for the owner's acts, and for events whose sender gave up
	d.hub.Tell(o)
	d.gateFailures(o.Entries)
	telemetry.Unheard(d.opts.Log, o)
	if d.telemetry != nil {
		d.telemetry.Observe(o)
	}
}

// reloaded counts the outcomes of reading a new policy.
func (d *Daemon) reloaded(s liverules.Status) {
	d.telemetry.Reloaded(s.Refused != nil)
}

// metricsServers returns the server for scrapes, if service.yaml asks for one.
func (d *Daemon) metricsServers() []server {
	if d.metrics == nil {
		return nil
	}
	return []server{serverOf("metrics", d.metrics, httpapi.NewServer(d.telemetry.Metrics()))}
}

// scrapes answers scrapes at a network door. The counters are of all tenants, so a tenant's token
// may not see them.
func (d *Daemon) scrapes(o httpapi.Options) http.Handler {
	show := d.telemetry.Scrape()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := httpapi.IdentityOf(r.Context())
		if who.Tenant != "" || !who.May.Has(httpapi.MayView) {
			o.Refused(who, r.URL.Path, r.RemoteAddr)
			http.Error(w, "metrics are shown to a token that may view and belongs to no tenant", http.StatusForbidden)
			return
		}
		show.ServeHTTP(w, r)
	})
}
