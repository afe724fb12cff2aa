package telemetry

import (
	"container/list"
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
)

// The bounds on open spans. If there are more, spans are ended early.
const (
	maxTraced    = 4096 // sessions
	maxOpenCalls = 64   // calls of one session
)

// Our own attributes, in addition to those of OpenTelemetry's GenAI conventions 1.41.0. None may
// contain content.
const (
	keyVerdict  = attribute.Key("floodmark.verdict")
	keyReason   = attribute.Key("floodmark.reason")
	keyTrust    = attribute.Key("floodmark.mark.trust")
	keySecrecy  = attribute.Key("floodmark.mark.secrecy")
	keyEffect   = attribute.Key("floodmark.effect")
	keyServer   = attribute.Key("floodmark.tool.server")
	keyTenant   = attribute.Key("floodmark.tenant")
	keyIncident = attribute.Key("floodmark.incident")
	keyEnded    = attribute.Key("floodmark.ended")
)

// The names of events on spans.
const (
	decisionEvent = "floodmark.decision"
	incidentEvent = "floodmark.incident"
)

// attributeKeys returns all attributes of spans and their events, with descriptions.
func attributeKeys() map[attribute.Key]string {
	return map[attribute.Key]string{
		semconv.GenAIOperationNameKey:     "`execute_tool`, `chat` or `invoke_agent`",
		semconv.GenAIToolNameKey:          "the tool, if the catalog knows it, else `other`",
		semconv.GenAIToolCallIDKey:        "the call as the agent names it; a digest if that is no plain name",
		semconv.GenAIConversationIDKey:    "the session; a digest if its name is no plain one",
		semconv.GenAIAgentNameKey:         "the agent, if the catalog knows it, else `other`",
		semconv.GenAIRequestModelKey:      "the model as the agent names it; a digest if that is no plain name",
		semconv.GenAIUsageInputTokensKey:  "how many tokens a model call took, if the agent tells",
		semconv.GenAIUsageOutputTokensKey: "how many tokens came back, if the agent tells",
		keyVerdict:                        "`restrict`, `confirm`, `audit`, `contain` (allowed in a box) or `allow`",
		keyReason:                         "the deciding reason's code",
		keyTrust:                          "the trust of the mark the action was judged at",
		keySecrecy:                        "the secrecy of that mark",
		keyEffect:                         "the most guarded effect of the call, or the kind of action",
		keyServer:                         "the tool's server, if the catalog knows it, else `other`",
		keyTenant:                         "the tenant; absent on a laptop",
		keyIncident:                       "the kind of an incident",
		keyEnded:                          "why a span ended without what it waited for: `turn`, `session`, `room` or `stop`",
	}
}

// A spans makes a trace for each turn, with a span for each model call and each tool call. Only the
// worker uses it.
type spans struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	ended    func()
	now      func() time.Time

	sessions map[journal.Session]*traced
	order    *list.List // of *traced, the most recently used first
}

// A traced is a session that may have open spans.
type traced struct {
	session journal.Session
	place   *list.Element
	turn    trace.Span // nil between turns
	in      context.Context
	chat    trace.Span
	calls   map[string]trace.Span
	results map[floodmark.NodeID]string // the call that each result belongs to
	parent  trace.SpanContext           // the turn that spawned this session
}

func newSpans(p *sdk.TracerProvider, ended func(), now func() time.Time) *spans {
	return &spans{
		provider: p, tracer: p.Tracer("floodmark", trace.WithSchemaURL(semconv.SchemaURL)), ended: ended, now: now,
		sessions: map[journal.Session]*traced{}, order: list.New(),
	}
}

// fact handles one fact of a session.
func (s *spans) fact(o *seen, at time.Time, f told, w who) {
	switch f := f.(type) {
	case *turn:
		t := s.of(o.session)
		if f.open {
			s.openTurn(t, at, w)
		} else {
			s.closeTurn(t, at, "turn")
		}
	case *decided:
		s.decided(s.of(o.session), o.point, at, f, w)
	case *answer:
		if t := s.of(o.session); t.chat != nil {
			s.end(t.chat, at, "")
			t.chat = nil
		}
	case *loop:
		if t := s.of(o.session); t.chat != nil {
			t.chat.SetAttributes(f.attributes()...)
		}
	case *announced:
		if t := s.of(o.session); f.Call != "" && t.calls[f.Call] != nil {
			t.results[f.Node] = f.Call
		}
	case *arrived:
		s.arrived(s.of(o.session), at, f)
	case *spawned:
		if t := s.of(o.session); t.turn != nil {
			s.of(journal.Session{Tenant: o.session.Tenant, ID: f.Child}).parent = t.turn.SpanContext()
		}
	case *incident:
		if t := s.of(o.session); t.turn != nil {
			t.turn.AddEvent(incidentEvent, trace.WithTimestamp(at), trace.WithAttributes(keyIncident.String(f.Kind)))
		}
	case *closed:
		s.drop(s.of(o.session), at, "session")
	case *opened, *asked, *guessed, *replied, *vouched, *granted, *used, *opined:
	}
}

// of returns the entry of a session, and adds it if there is none.
func (s *spans) of(id journal.Session) *traced {
	if t := s.sessions[id]; t != nil {
		s.order.MoveToFront(t.place)
		return t
	}
	if len(s.sessions) >= maxTraced {
		if old, ok := s.order.Back().Value.(*traced); ok {
			s.drop(old, s.now(), "room")
		}
	}
	t := &traced{session: id, in: context.Background(), calls: map[string]trace.Span{}, results: map[floodmark.NodeID]string{}}
	t.place = s.order.PushFront(t)
	s.sessions[id] = t
	return t
}

func (s *spans) openTurn(t *traced, at time.Time, w who) {
	s.closeTurn(t, at, "turn")
	options := []trace.SpanStartOption{
		trace.WithTimestamp(at), trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindInternal),
		trace.WithAttributes(append(about(w), semconv.GenAIOperationNameInvokeAgent)...),
	}
	if t.parent.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: t.parent}))
	}
	t.in, t.turn = s.tracer.Start(context.Background(), named("invoke_agent", w.agent), options...)
}

// decided records a decision. The span of an allowed call stays open until its result arrives. The
// span of any other call ends at once.
func (s *spans) decided(t *traced, point hook.Point, at time.Time, d *decided, w who) {
	var span trace.Span
	switch d.Action.Kind {
	case floodmark.CallTool:
		if span = t.calls[d.Action.Call]; span == nil {
			span = s.start(t, at, named("execute_tool", d.Action.Tool.Name), append(about(w), toolAttributes(d)...))
		}
	case floodmark.CallModel:
		if point != hook.BeforeLLMCall {
			span = t.turn // the turn was refused before a model was called
			break
		}
		if t.chat != nil {
			s.end(t.chat, at, "turn")
		}
		span = s.start(t, at, "chat", append(about(w), semconv.GenAIOperationNameChat))
		t.chat = span
	case floodmark.SendReply, floodmark.SpawnAgent:
		span = t.turn
	}
	if span == nil {
		return
	}
	attributes := decisionAttributes(d)
	span.AddEvent(decisionEvent, trace.WithTimestamp(at), trace.WithAttributes(attributes...))
	if span == t.turn {
		return
	}
	span.SetAttributes(attributes...)
	switch {
	case d.Decision.Verdict == floodmark.Allow || d.Decision.Verdict == floodmark.Audit:
		s.keep(t, d, span, at)
	case span == t.chat:
		s.end(span, at, "")
		t.chat = nil
	default:
		delete(t.calls, d.Action.Call)
		s.end(span, at, "")
	}
}

// keep keeps a call's span open.
func (s *spans) keep(t *traced, d *decided, span trace.Span, at time.Time) {
	if d.Action.Kind != floodmark.CallTool {
		return
	}
	if t.calls[d.Action.Call] == nil && len(t.calls) >= maxOpenCalls {
		s.end(span, at, "room")
		return
	}
	t.calls[d.Action.Call] = span
}

func (s *spans) arrived(t *traced, at time.Time, f *arrived) {
	call, ok := t.results[f.Node]
	if !ok {
		return
	}
	delete(t.results, f.Node)
	if span := t.calls[call]; span != nil {
		s.end(span, at, "")
		delete(t.calls, call)
	}
}

func (s *spans) start(t *traced, at time.Time, name string, attributes []attribute.KeyValue) trace.Span {
	_, span := s.tracer.Start(t.in, name, trace.WithTimestamp(at), trace.WithSpanKind(trace.SpanKindInternal), trace.WithAttributes(attributes...))
	return span
}

// end ends a span. why is set if the span ends without its result.
func (s *spans) end(span trace.Span, at time.Time, why string) {
	if why != "" {
		span.SetAttributes(keyEnded.String(why))
	}
	span.End(trace.WithTimestamp(at))
	s.ended()
}

// closeTurn ends all open spans of a session.
func (s *spans) closeTurn(t *traced, at time.Time, why string) {
	for call, span := range t.calls {
		s.end(span, at, why)
		delete(t.calls, call)
	}
	clear(t.results)
	if t.chat != nil {
		s.end(t.chat, at, why)
		t.chat = nil
	}
	if t.turn != nil {
		if why == "turn" {
			why = "" // the normal end of a turn
		}
		s.end(t.turn, at, why)
		t.turn, t.in = nil, context.Background()
	}
}

func (s *spans) drop(t *traced, at time.Time, why string) {
	s.closeTurn(t, at, why)
	s.order.Remove(t.place)
	delete(s.sessions, t.session)
}

// named returns a span's name in the form of the conventions.
func named(operation, of string) string {
	if of == "" {
		return operation
	}
	return operation + " " + of
}

func about(w who) []attribute.KeyValue {
	list := make([]attribute.KeyValue, 0, 8)
	list = append(list, semconv.GenAIConversationID(w.session), semconv.GenAIAgentName(w.agent))
	if w.tenant != "" {
		list = append(list, keyTenant.String(w.tenant))
	}
	return list
}

func toolAttributes(d *decided) []attribute.KeyValue {
	list := []attribute.KeyValue{
		semconv.GenAIOperationNameExecuteTool, semconv.GenAIToolName(d.Action.Tool.Name), semconv.GenAIToolCallID(d.Action.Call),
	}
	if d.Action.Tool.Server != "" {
		list = append(list, keyServer.String(d.Action.Tool.Server))
	}
	return list
}

// attributes returns what is known about a model call. Unknown numbers are omitted, because
// collectors may sum them up.
func (l *loop) attributes() []attribute.KeyValue {
	var list []attribute.KeyValue
	if l.Model != "" {
		list = append(list, semconv.GenAIRequestModel(l.Model))
	}
	if l.Usage != (floodmark.TokenUsage{}) {
		list = append(list, semconv.GenAIUsageInputTokens(l.Usage.Input), semconv.GenAIUsageOutputTokens(l.Usage.Output))
	}
	return list
}

func decisionAttributes(d *decided) []attribute.KeyValue {
	list := []attribute.KeyValue{
		keyVerdict.String(d.Decision.Verdict.String()), keyTrust.String(d.Mark.Trust.String()),
		keySecrecy.String(d.Mark.Secrecy.String()), keyEffect.String(d.effect()),
	}
	if r := d.reason(); r != "" {
		list = append(list, keyReason.String(r))
	}
	return list
}
