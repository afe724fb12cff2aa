package telemetry

import (
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/fleet/nodes"
	"github.com/floodmark/floodmark/monitor"
)

// A metric describes one time series for the reference.
type metric struct {
	name, kind, help string
	labels           []string
}

// allMetrics returns all metrics of a scrape. A name that was released keeps its meaning. The
// values of labels come from closed sets.
func allMetrics() []metric {
	return []metric{
		{"floodmark_build_info", "gauge", "Always 1; which program this is.", []string{"version", "go"}},
		{"floodmark_events_total", "counter", "What agents told, by hook point.", []string{"point"}},
		{"floodmark_decisions_total", "counter", "Actions that were answered, by verdict, by the most guarded effect, and by agent.", []string{"verdict", "effect", "agent"}},
		{"floodmark_reasons_total", "counter", "Actions that were not simply allowed, by the deciding reason.", []string{"reason", "verdict"}},
		{"floodmark_questions_total", "counter", "Questions to a person: opened, approved, denied, voided or expired.", []string{"state"}},
		{"floodmark_questions_open", "gauge", "Questions asked by this process that wait for an answer.", nil},
		{"floodmark_tasks_total", "counter", "Turns in which something was decided.", nil},
		{"floodmark_resolved_total", "counter", "What needed an answer, by who gave it: an earlier grant, the auditor, a verifier, a person; or nobody: voided, expired.", []string{"by"}},
		{"floodmark_answer_seconds", "histogram", "How long a person took to answer a question.", nil},
		{"floodmark_paused", "gauge", "Pauses that hold: what is decided under one is not enforced.", nil},
		{"floodmark_nodes_differ", "gauge", "Nodes of the fleet that are set up otherwise than most, by what: the program's version, the policy, or a part of the settings.", []string{"what"}},
		{"floodmark_wrong_codes_total", "counter", "Typed codes that answered no question.", nil},
		{"floodmark_endorsements_total", "counter", "Content the owner vouched for, or no longer does.", []string{"change"}},
		{"floodmark_incidents_total", "counter", "What should not have been possible, by kind.", []string{"kind"}},
		{"floodmark_errors_total", "counter", "Events and commands that got no answer, so restrict, by class.", []string{"class"}},
		{"floodmark_warnings_total", "counter", "What went wrong beside an answer that stands.", nil},
		{"floodmark_tokens_total", "counter", "Tokens of model calls, as far as agents tell them: input or output.", []string{"direction", "agent"}},
		{"floodmark_append_seconds", "histogram", "How long it took to make facts durable.", nil},
		{"floodmark_judge_seconds", "histogram", "How long judging took.", nil},
		{"floodmark_decision_seconds", "histogram", "How long an event took in all: waiting, recalling, judging, recording.", nil},
		{"floodmark_wait_seconds", "histogram", "How long an event waited for its session's turn.", nil},
		{"floodmark_cold_loads_total", "counter", "Sessions that were read from the journal.", nil},
		{"floodmark_conflicts_total", "counter", "How often another writer was faster.", nil},
		{"floodmark_in_flight", "gauge", "Events being worked on or waiting for their session's turn.", nil},
		{"floodmark_waiters", "gauge", "Calls that wait for a person's answer.", nil},
		{"floodmark_cached_sessions", "gauge", "Sessions in memory.", nil},
		{"floodmark_cached_bytes", "gauge", "What the sessions in memory take, approximately.", nil},
		{"floodmark_policy_reloads_total", "counter", "Tries to change the policy: ok or refused.", []string{"result"}},
		{"floodmark_checkpoint_age_seconds", "gauge", "How long ago the journal's heads were signed; since the start if never.", nil},
		{"floodmark_telemetry_lost_total", "counter", "Observations that did not fit the queue of telemetry.", nil},
		{"floodmark_telemetry_unread_total", "counter", "Facts that telemetry could not read.", nil},
		{"floodmark_telemetry_spans_total", "counter", "Spans: ended, sent, or failed to be sent.", []string{"state"}},
		{"floodmark_telemetry_unwritten_total", "counter", "Security events that could not be written.", nil},
	}
}

// maxOpenQuestions bounds the questions tracked until they end.
const maxOpenQuestions = 4096

// A metrics holds the counters. They have a registry of their own.
type metrics struct {
	registry *prometheus.Registry

	points                                  map[hook.Point]prometheus.Counter
	decisions, reasons, questions           *prometheus.CounterVec
	endorsements, incidents, errors         *prometheus.CounterVec
	reloads, spanCount, tokens              *prometheus.CounterVec
	wrong, warnings, cold, conflicts        prometheus.Counter
	lost, unread, unwritten                 prometheus.Counter
	appendTime, judgeTime, allTime, waiting prometheus.Histogram
	openGauge                               prometheus.Gauge

	open   map[floodmark.TicketID]time.Time // when each open question expires; only used by the worker
	asking *asking
}

func newMetrics(o Options) *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), points: map[hook.Point]prometheus.Counter{}, open: map[floodmark.TicketID]time.Time{}}
	f := factory{m.registry}
	events := f.counters("floodmark_events_total")
	for _, p := range hook.Points() {
		m.points[p] = events.WithLabelValues(string(p))
	}
	m.decisions, m.reasons = f.counters("floodmark_decisions_total"), f.counters("floodmark_reasons_total")
	m.questions, m.endorsements = f.counters("floodmark_questions_total"), f.counters("floodmark_endorsements_total")
	m.incidents, m.errors = f.counters("floodmark_incidents_total"), f.counters("floodmark_errors_total")
	m.reloads, m.spanCount = f.counters("floodmark_policy_reloads_total"), f.counters("floodmark_telemetry_spans_total")
	m.tokens = f.counters("floodmark_tokens_total")
	m.wrong, m.warnings = f.counter("floodmark_wrong_codes_total"), f.counter("floodmark_warnings_total")
	m.cold, m.conflicts = f.counter("floodmark_cold_loads_total"), f.counter("floodmark_conflicts_total")
	m.lost, m.unread = f.counter("floodmark_telemetry_lost_total"), f.counter("floodmark_telemetry_unread_total")
	m.unwritten = f.counter("floodmark_telemetry_unwritten_total")
	m.appendTime, m.judgeTime = f.histogram("floodmark_append_seconds"), f.histogram("floodmark_judge_seconds")
	m.allTime, m.waiting = f.histogram("floodmark_decision_seconds"), f.histogram("floodmark_wait_seconds")
	m.openGauge = f.gauge("floodmark_questions_open")
	m.asking = newAsking(f)
	f.gauges("floodmark_build_info").WithLabelValues(o.Version, runtime.Version()).Set(1)
	m.begin()
	f.watch(o)
	return m
}

// begin creates the counters of small closed sets with the value zero, because Prometheus cannot
// compute the rate of a counter that is missing.
func (m *metrics) begin() {
	for _, s := range []string{"opened", "approved", "denied", "voided", "expired"} {
		m.questions.WithLabelValues(s)
	}
	for _, r := range []string{"ok", "refused"} {
		m.reloads.WithLabelValues(r)
	}
	for _, k := range append(incidentKinds(), other) {
		m.incidents.WithLabelValues(k)
	}
	for _, c := range errorClasses() {
		m.errors.WithLabelValues(c.name)
	}
}

// observe counts an observation without its facts.
func (m *metrics) observe(o *monitor.Observation) {
	if o.Err != nil {
		m.errors.WithLabelValues(classOf(o.Err)).Inc()
	}
	if o.Warning != nil {
		m.warnings.Inc()
		return // its event was counted
	}
	if o.Cold {
		m.cold.Inc()
	}
	if o.Conflicts > 0 {
		m.conflicts.Add(float64(o.Conflicts))
	}
	if len(o.Entries) > 0 {
		m.appendTime.Observe(o.Wrote.Seconds())
	}
	if o.Point == "" {
		return
	}
	if c := m.points[o.Point]; c != nil {
		c.Inc()
	}
	m.judgeTime.Observe(o.Judged.Seconds())
	m.waiting.Observe(o.Waited.Seconds())
	m.allTime.Observe((o.Waited + o.Loaded + o.Judged + o.Wrote).Seconds())
}

// fact counts one fact.
func (m *metrics) fact(f told, w who, at time.Time) {
	m.asking.fact(f, w, at)
	switch f := f.(type) {
	case *decided:
		verdict := f.word()
		m.decisions.WithLabelValues(verdict, f.effect(), w.agent).Inc()
		if f.Decision.Verdict < floodmark.Allow || f.Decision.Would != "" {
			m.reasons.WithLabelValues(f.reason(), verdict).Inc()
		}
	case *incident:
		m.incidents.WithLabelValues(f.Kind).Inc()
	case *asked:
		m.ask(f)
	case *replied:
		state := map[floodmark.Verdict]string{floodmark.Allow: "approved", floodmark.Restrict: "denied"}[f.Verdict]
		if state == "" {
			state = "voided"
		}
		m.questions.WithLabelValues(state).Inc()
		delete(m.open, f.Ticket)
		m.openGauge.Set(float64(len(m.open)))
	case *guessed:
		m.wrong.Inc()
	case *vouched:
		change := "endorsed"
		if f.back {
			change = "withdrawn"
		}
		m.endorsements.WithLabelValues(change).Inc()
	case *loop:
		if u := f.Usage; u.Input > 0 {
			m.tokens.WithLabelValues("input", w.agent).Add(float64(u.Input))
		}
		if u := f.Usage; u.Output > 0 {
			m.tokens.WithLabelValues("output", w.agent).Add(float64(u.Output))
		}
	case *opened, *closed, *turn, *answer, *spawned, *announced, *arrived, *granted, *used, *opined:
	}
}

func (m *metrics) ask(f *asked) {
	m.questions.WithLabelValues("opened").Inc()
	if len(m.open) < maxOpenQuestions {
		m.open[f.Ticket] = f.Expires
	}
	m.openGauge.Set(float64(len(m.open)))
}

// expire counts the expired questions.
func (m *metrics) expire(now time.Time) {
	for t, until := range m.open {
		if !until.After(now) {
			delete(m.open, t)
			m.questions.WithLabelValues("expired").Inc()
			m.asking.expired(t)
		}
	}
	m.openGauge.Set(float64(len(m.open)))
}

func (m *metrics) reloaded(refused bool) {
	result := "ok"
	if refused {
		result = "refused"
	}
	m.reloads.WithLabelValues(result).Inc()
}

// A factory makes metrics from their descriptions.
type factory struct{ registry *prometheus.Registry }

func described(name string) metric {
	all := allMetrics()
	return all[slices.IndexFunc(all, func(d metric) bool { return d.name == name })]
}

func (f factory) counters(name string) *prometheus.CounterVec {
	d := described(name)
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: d.help}, d.labels)
	f.registry.MustRegister(c)
	return c
}

func (f factory) counter(name string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: described(name).help})
	f.registry.MustRegister(c)
	return c
}

func (f factory) gauges(name string) *prometheus.GaugeVec {
	d := described(name)
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: d.help}, d.labels)
	f.registry.MustRegister(g)
	return g
}

func (f factory) gauge(name string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: described(name).help})
	f.registry.MustRegister(g)
	return g
}

// histogram makes a histogram from 10 µs, for judging alone, to 10 s, the deadline.
func (f factory) histogram(name string) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: name, Help: described(name).help,
		Buckets: []float64{1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.3, 1, 3, 10},
	})
	f.registry.MustRegister(h)
	return h
}

// watch registers the values read at each scrape.
func (f factory) watch(o Options) {
	show := func(name string, value func() float64) {
		f.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: described(name).help}, value))
	}
	if full := o.Occupancy; full != nil {
		show("floodmark_in_flight", func() float64 { return float64(full().InFlight) })
		show("floodmark_waiters", func() float64 { return float64(full().Waiters) })
		show("floodmark_cached_sessions", func() float64 { return float64(full().Sessions) })
		show("floodmark_cached_bytes", func() float64 { return float64(full().Bytes) })
	}
	if held := o.Paused; held != nil {
		show("floodmark_paused", func() float64 { return float64(held()) })
	}
	if differ := o.Differ; differ != nil {
		const name = "floodmark_nodes_differ"
		for _, what := range nodes.Whats() {
			opts := prometheus.GaugeOpts{Name: name, Help: described(name).help, ConstLabels: prometheus.Labels{"what": what}}
			f.registry.MustRegister(prometheus.NewGaugeFunc(opts, func() float64 { return float64(differ(what)) }))
		}
	}
	if signed := o.Checkpoint; signed != nil {
		show("floodmark_checkpoint_age_seconds", func() float64 { return o.Now().Sub(signed()).Seconds() })
	}
}
