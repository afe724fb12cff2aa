// Package telemetry shows operators what the monitor does: counters, traces, security events, and a
// log. None of them contains content, secrets or codes, because facts are read into types without
// fields for those, and a foreign name is shown only if it is known or looks harmless. It never
// delays an answer: an observation that does not fit into its queue is dropped and counted.
package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// The bounds of the queue.
const (
	maxQueue      = 8192             // observations
	maxQueueBytes = 32 << 20         // bytes of the facts in the queue
	tick          = time.Second      // how often expired questions are looked for
	settleTime    = time.Second      // how long a scrape waits for earlier observations
	closeTime     = 3 * time.Second  // how long sending the last spans may take
	scrapeTime    = 10 * time.Second // how long one scrape may take
)

// Options configure telemetry. Now and Catalog are required.
type Options struct {
	Version string
	// Traces is the OTLP/HTTP address of a collector. Events is the file for security events. If
	// one is empty, it is off.
	Traces, Events string
	// Catalog returns the known tools and agents, whose names may be shown.
	Catalog func() *catalog.Catalog
	// Occupancy returns how full the monitor is. Checkpoint returns when the journal's heads were
	// last signed. Paused returns how many pauses are in effect. All three are optional.
	Occupancy  func() monitor.Occupancy
	Checkpoint func() time.Time
	Paused     func() int
	// Differ returns how many nodes of a fleet differ from most in one of [nodes.Whats]. It is
	// optional.
	Differ func(what string) int
	Now    func() time.Time
	// Log gets the problems of telemetry itself. It is optional.
	Log *slog.Logger

	dial func(ctx context.Context, network, address string) (net.Conn, error) // connects to the collector; for tests
}

// A Telemetry reports what it observes. Use Open to make one.
type Telemetry struct {
	opts    Options
	metrics *metrics
	spans   *spans     // nil without traces
	events  *eventFile // nil without events
	names   names

	queue chan item
	bytes atomic.Int64 // of the facts in the queue
	stop  chan struct{}
	work  sync.WaitGroup
	once  sync.Once
	ended error
}

// An item is one queue entry. Exactly one part is set.
type item struct {
	seen    *seen
	reload  *reload
	reached chan<- struct{}
}

// A seen is the queued part of an observation.
type seen struct {
	session journal.Session
	agent   string
	point   hook.Point
	entries []journal.Entry
	mark    floodmark.Label
	ticket  floodmark.TicketID
	bytes   int64
}

// A reload is an attempt to change the policy.
type reload struct {
	at      time.Time
	refused bool
}

// Open starts telemetry. The caller closes it, after the monitor.
func Open(ctx context.Context, o Options) (*Telemetry, error) {
	if o.Now == nil || o.Catalog == nil {
		return nil, errors.New("telemetry: the options lack Now or Catalog")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	t := &Telemetry{opts: o, queue: make(chan item, maxQueue), stop: make(chan struct{}), names: newNames(o.Catalog)}
	t.metrics = newMetrics(o)
	var err error
	if o.Events != "" {
		if t.events, err = openEvents(o.Events, maxEventBytes); err != nil {
			return nil, err
		}
	}
	if o.Traces != "" {
		if t.spans, err = openSpans(ctx, o, t.metrics); err != nil {
			return nil, errors.Join(err, t.events.Close())
		}
	}
	t.work.Go(t.run)
	return t, nil
}

// Observe queues an observation. It never blocks; it belongs in [monitor.Config].
func (t *Telemetry) Observe(o monitor.Observation) {
	t.metrics.observe(&o)
	if len(o.Entries) == 0 {
		return
	}
	size := int64(0)
	for i := range o.Entries {
		size += int64(len(o.Entries[i].Body))
	}
	if t.bytes.Add(size) > maxQueueBytes {
		t.bytes.Add(-size)
		t.metrics.lost.Inc()
		return
	}
	s := &seen{session: o.Session, agent: o.Agent, point: o.Point, entries: o.Entries, mark: o.Mark, ticket: o.Ticket, bytes: size}
	if !t.put(item{seen: s}) {
		t.bytes.Add(-size)
	}
}

// Reloaded reports that the policy was read again. refused is true if the old policy stays in
// force.
func (t *Telemetry) Reloaded(refused bool) {
	if t == nil {
		return // telemetry is off
	}
	t.put(item{reload: &reload{at: t.opts.Now(), refused: refused}})
}

func (t *Telemetry) put(i item) bool {
	select {
	case t.queue <- i:
		return true
	default:
		t.metrics.lost.Inc()
		return false
	}
}

// run handles the queue until Close, and then the rest of the queue.
func (t *Telemetry) run() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case i := <-t.queue:
			t.tell(i)
		case <-ticker.C:
			t.metrics.expire(t.opts.Now())
		case <-t.stop:
			for {
				select {
				case i := <-t.queue:
					t.tell(i)
				default:
					return
				}
			}
		}
	}
}

func (t *Telemetry) tell(i item) {
	switch {
	case i.reached != nil:
		t.metrics.expire(t.opts.Now())
		close(i.reached)
	case i.reload != nil:
		t.metrics.reloaded(i.reload.refused)
		if i.reload.refused {
			t.write(policyRefused(t.opts.Version, i.reload.at))
		}
	case i.seen != nil:
		t.bytes.Add(-i.seen.bytes)
		t.tellSeen(i.seen)
	}
}

// tellSeen reads the facts once, and passes them to all outputs.
func (t *Telemetry) tellSeen(s *seen) {
	who := who{tenant: t.names.id(s.session.Tenant), session: t.names.id(string(s.session.ID)), agent: t.names.agent(s.agent)}
	for i := range s.entries {
		e := &s.entries[i]
		if e.Kind == "content-seen" && s.point != hook.BeforeToolCall {
			continue // only an entry for a coming result names its call
		}
		f, err := readFact(e.Kind, e.Body)
		if err != nil {
			t.metrics.unread.Inc()
			continue
		}
		if f == nil {
			continue
		}
		t.names.bound(f)
		if who.agent == "" {
			who.agent = f.agent()
		}
		t.metrics.fact(f, who, e.Time())
		if t.spans != nil {
			t.spans.fact(s, e.Time(), f, who)
		}
		if t.events != nil {
			if ev, ok := eventOf(t.opts.Version, s, e, f, who); ok {
				t.write(ev)
			}
		}
	}
}

// write adds a security event. Errors are counted. The first of several in a row is logged, and
// when writing works again.
func (t *Telemetry) write(ev finding) {
	if t.events == nil {
		return
	}
	changed, err := t.events.write(ev)
	if err != nil {
		t.metrics.unwritten.Inc()
	}
	switch {
	case changed && err != nil:
		t.opts.Log.Error("security events cannot be written", "error", err)
	case changed:
		t.opts.Log.Info("security events are written again")
	}
}

// settle waits until earlier observations are counted.
func (t *Telemetry) settle(ctx context.Context) {
	reached := make(chan struct{})
	timer := time.NewTimer(settleTime)
	defer timer.Stop()
	if !t.put(item{reached: reached}) {
		return
	}
	select {
	case <-reached:
	case <-timer.C:
	case <-ctx.Done():
	case <-t.stop:
	}
}

// Scrape serves the counters; access control is up to its caller. A scrape includes everything that
// was observed before it, unless the queue takes longer than settleTime.
func (t *Telemetry) Scrape() http.Handler {
	show := promhttp.HandlerFor(t.metrics.registry, promhttp.HandlerOpts{
		MaxRequestsInFlight: 4, Timeout: scrapeTime, ErrorHandling: promhttp.HTTPErrorOnError,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.settle(r.Context())
		show.ServeHTTP(w, r)
	})
}

// Metrics serves scrapes by any user of this machine.
func (t *Telemetry) Metrics() http.Handler {
	show := t.Scrape()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if !local(r.Host) {
			http.Error(w, "ask by a loopback address", http.StatusForbidden) // a web page may have bound its own host name to our address
			return
		}
		show.ServeHTTP(w, r)
	})
	return mux
}

func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Registry returns the counters, for tests and for embedding programs.
func (t *Telemetry) Registry() prometheus.Gatherer { return t.metrics.registry }

// Close handles the rest of the queue and releases all resources. Later observations are dropped.
func (t *Telemetry) Close() error {
	t.once.Do(func() {
		close(t.stop)
		t.work.Wait()
		if t.spans != nil {
			t.spans.close()
		}
		t.ended = t.events.Close()
	})
	return t.ended
}
