package telemetry

import (
	"context"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	spanpb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
)

// newStageless returns a Telemetry without a goroutine, a file or a connection.
func newStageless(c *catalog.Catalog) *Telemetry {
	o := Options{Now: func() time.Time { return time.Unix(0, 0) }, Catalog: func() *catalog.Catalog { return c }}
	s := &Telemetry{opts: o, metrics: newMetrics(o), names: newNames(o.Catalog), queue: make(chan item, 1)}
	s.spans = newSpans(sdk.NewTracerProvider(), func() {}, o.Now)
	return s
}

// A turn becomes a trace with spans for the turn, its model calls and its tool calls, each with the
// decision. They have only the listed attributes.
func TestATurnIsATrace(t *testing.T) {
	c := newCollector(t)
	s := newStage(t, Options{Traces: c.URL})
	s.play(t)
	s.tell(t, hook.Event{Point: hook.BeforeResponseEmit, Session: "s1", Text: "done", Audience: hook.ToOwner})
	s.tell(t, hook.Event{Point: hook.SessionEnd, Session: "s1"})
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	turn, chat := one(t, c, "invoke_agent openclaw"), one(t, c, "chat")
	read, run := one(t, c, "execute_tool web_fetch"), one(t, c, "execute_tool exec")
	for _, span := range []*spanpb.Span{chat, read, run} {
		if string(span.GetParentSpanId()) != string(turn.GetSpanId()) || string(span.GetTraceId()) != string(turn.GetTraceId()) {
			t.Errorf("%s is not part of the turn", span.GetName())
		}
		if attr(span, "gen_ai.conversation.id") != "s1" || attr(span, "gen_ai.agent.name") != "openclaw" {
			t.Errorf("%s: whose is it? %v", span.GetName(), span.GetAttributes())
		}
	}
	for key, want := range map[string]string{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "exec", "gen_ai.tool.call.id": "c2", "floodmark.verdict": "confirm",
		"floodmark.mark.trust": "untrusted", "floodmark.reason": "taint-escalation", "floodmark.effect": "run",
	} {
		if got := attr(run, key); got != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
	if read.GetEndTimeUnixNano() <= read.GetStartTimeUnixNano() || chat.GetEndTimeUnixNano() <= chat.GetStartTimeUnixNano() {
		t.Error("what took time has a length")
	}
	for _, span := range []*spanpb.Span{turn, chat, read, run} {
		if why := attr(span, "floodmark.ended"); why != "" {
			t.Errorf("%s ended by %s, not by what it waited for", span.GetName(), why)
		}
	}
	for key, want := range map[string]string{
		"gen_ai.request.model": plainName("the model of ann@example.com"), "gen_ai.usage.input_tokens": "900", "gen_ai.usage.output_tokens": "12",
	} {
		if got := attr(chat, key); got != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
	if len(run.GetEvents()) != 1 || run.GetEvents()[0].GetName() != decisionEvent {
		t.Errorf("the decision is an event: %v", run.GetEvents())
	}
	onlyKnownAttributes(t, c)
}

// Some agents, such as pi, report the begin of a model call and not its end. Then the span lasts
// until the next one or the end of the turn, and says so. Each span has the tokens of its round.
func TestAModelCallWithoutAnEnd(t *testing.T) {
	c := newCollector(t)
	s := newStage(t, Options{Traces: c.URL})
	s.tell(t, hook.Event{Point: hook.MessageReceived, Agent: "pi", Session: "s1", Text: "go", Origin: floodmark.Origin{Kind: floodmark.FromSender, IsOwner: true}})
	for i := range 2 {
		s.tell(t, hook.Event{Point: hook.BeforeLLMCall, Agent: "pi", Session: "s1"})
		s.tell(t, hook.Event{Point: hook.LoopIterationEnd, Agent: "pi", Session: "s1", Loop: floodmark.Loop{TokenUsage: floodmark.TokenUsage{Input: 7 + i}}})
	}
	s.tell(t, hook.Event{Point: hook.BeforeResponseEmit, Agent: "pi", Session: "s1", Audience: hook.ToOwner})
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	chats := c.named("chat")
	if len(chats) != 2 || chats[0].GetEndTimeUnixNano() != chats[1].GetStartTimeUnixNano() {
		t.Fatalf("%v", chats)
	}
	for i, chat := range chats {
		if attr(chat, "floodmark.ended") != "turn" || attr(chat, "gen_ai.usage.input_tokens") != fmt.Sprint(7+i) {
			t.Errorf("the call in round %d: %v", i, chat)
		}
	}
}

func one(t *testing.T, c *collector, name string) *spanpb.Span {
	t.Helper()
	found := c.named(name)
	if len(found) != 1 {
		t.Fatalf("%d spans %q, want one", len(found), name)
	}
	return found[0]
}

func onlyKnownAttributes(t *testing.T, c *collector) {
	t.Helper()
	known := map[string]bool{}
	for k := range attributeKeys() {
		known[string(k)] = true
	}
	for _, s := range c.spans {
		all := s.GetAttributes()
		for _, e := range s.GetEvents() {
			all = append(all, e.GetAttributes()...)
		}
		for _, a := range all {
			if !known[a.GetKey()] {
				t.Errorf("%s has an attribute %s, which is not in the list", s.GetName(), a.GetKey())
			}
		}
	}
}

// A sub-agent's turn has a link to the turn that spawned it.
func TestAChildIsLinked(t *testing.T) {
	c := newCollector(t)
	s := newStage(t, Options{Traces: c.URL})
	s.play(t)
	s.tell(t, hook.Event{Point: hook.SubagentSpawned, Session: "s1", Child: "k1", Text: "look around"})
	s.tell(t, hook.Event{Point: hook.BeforeToolCall, Session: "k1", Call: hook.Call{ID: "c1", Name: "read", Args: []byte(`{"path":"a"}`)}})
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	for _, span := range c.named("invoke_agent openclaw") {
		if attr(span, "gen_ai.conversation.id") == "k1" {
			if len(span.GetLinks()) != 1 || attr(span, "floodmark.ended") != "stop" {
				t.Errorf("the child's turn: %v", span)
			}
			return
		}
	}
	t.Error("the child has no turn")
}

// Open spans are bounded, per session and in total.
func TestOpenSpansAreBounded(t *testing.T) {
	c, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	s := newStageless(c)
	defer s.spans.close()
	ended := 0
	s.spans.ended = func() { ended++ }
	for i := range maxOpenCalls + 1 {
		d := &decided{}
		d.Action.Kind, d.Action.Call, d.Decision.Verdict = floodmark.CallTool, fmt.Sprint(i), floodmark.Allow
		s.spans.fact(&seen{session: journal.Session{ID: "s"}, point: hook.BeforeToolCall}, time.Unix(1, 0), d, who{})
		if want := max(0, i+1-maxOpenCalls); ended != want {
			t.Fatalf("after %d calls %d spans ended", i+1, ended)
		}
	}
	for i := range maxTraced {
		s.spans.fact(&seen{session: journal.Session{ID: floodmark.SessionID(fmt.Sprint("x", i))}}, time.Unix(1, 0), &turn{open: true}, who{})
	}
	if len(s.spans.sessions) != maxTraced || s.spans.order.Len() != maxTraced || ended != 1+maxOpenCalls {
		t.Errorf("%d sessions, %d spans ended", len(s.spans.sessions), ended)
	}
}

// A collector that is down, or never answers, delays no event.
func TestADeadCollectorCostsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		dial func(context.Context, string, string) (net.Conn, error)
		end  time.Duration
	}{
		"down": {func(context.Context, string, string) (net.Conn, error) { return nil, syscall.ECONNREFUSED }, 0},
		"silent": {func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			go io.Copy(io.Discard, far)
			return near, nil
		}, closeTime},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, Options{Traces: "http://127.0.0.1:4318", dial: c.dial})
				begin := time.Now()
				for range 200 {
					s.tell(t, hook.Event{Point: hook.BeforeToolCall, Session: "s1", Call: hook.Call{ID: "c", Name: "exec"}})
				}
				if took := time.Since(begin); took != 0 {
					t.Errorf("200 answers waited %v", took)
				}
				if err := s.end(); err != nil {
					t.Error(err)
				}
				if took := time.Since(begin); took != c.end {
					t.Errorf("the end waited %v, want %v", took, c.end)
				}
				time.Sleep(sendTime) // requests that were under way time out
			})
		})
	}
}

func TestWhereSpansMayGo(t *testing.T) {
	for address, want := range map[string]string{
		"https://otel.example":                 "https://otel.example/v1/traces",
		"https://otel.example:4318/x":          "https://otel.example:4318/x",
		"http://127.0.0.1:4318/":               "http://127.0.0.1:4318/v1/traces",
		"http://localhost:4318":                "http://localhost:4318/v1/traces",
		"http://[::1]:4318":                    "http://[::1]:4318/v1/traces",
		"http://otel.example":                  "",
		"otel.example:4318":                    "",
		"ftp://127.0.0.1":                      "",
		"https://me:secret@otel.example":       "",
		"https://otel.example/v1/traces?k=v":   "",
		"http://127.0.0.1.evil.example/traces": "",
	} {
		got, err := checkTraces(address)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", address, got, err)
		}
	}
}
