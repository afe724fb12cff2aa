package telemetry

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spanpb "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// These are read only once, because that takes long, above all with the race detector.
var (
	shipped    = sync.OnceValues(catalog.Shipped)
	plainRules = sync.OnceValues(func() (kernel.Rules, error) {
		p, problems := policy.Load()
		if problems.Failed() {
			return kernel.Rules{}, problems
		}
		c, err := shipped()
		if err != nil {
			return kernel.Rules{}, err
		}
		return kernel.NewRules(p, catalog.New(p.Tools(), c)), nil
	})
)

func rules(tb testing.TB) kernel.Rules {
	tb.Helper()
	r, err := plainRules()
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// clock is for tests in which the time does not matter.
func clock() time.Time { return time.Unix(1, 0) }

// A stage is an observed monitor with a journal in memory.
type stage struct {
	*Telemetry
	monitor *monitor.Monitor
	clock   *atomic.Int64
	codes   chan string
	rules   func() kernel.Rules
	key     func(string) (provenance.Key, error)
}

func newStage(tb testing.TB, o Options) *stage {
	tb.Helper()
	r := rules(tb)
	s := &stage{clock: &atomic.Int64{}, codes: make(chan string, 16), rules: func() kernel.Rules { return r }}
	s.key = func(string) (provenance.Key, error) { return provenance.Key{7}, nil }
	s.clock.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	now := func() time.Time { return time.Unix(0, s.clock.Add(int64(time.Millisecond))) }
	o.Now, o.Version, o.Catalog = now, "test", func() *catalog.Catalog { return r.Catalog }
	o.Occupancy = func() monitor.Occupancy { return s.monitor.Occupancy() }
	var err error
	if s.Telemetry, err = Open(tb.Context(), o); err != nil {
		tb.Fatal(err)
	}
	var n atomic.Int64
	s.monitor, err = monitor.New(monitor.Config{
		Journal: journal.NewMemory(), Rules: s.rules, Key: s.key,
		Approvers: []approval.Approver{s}, Now: now,
		NewCode:   func() string { return fmt.Sprintf("%08x", 0xc0de0000+n.Load()) },
		NewTicket: func() floodmark.TicketID { return floodmark.TicketID(fmt.Sprint("t", n.Add(1))) },
		Observe:   s.Observe,
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.end(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func (s *stage) end() error {
	if err := s.monitor.Close(); err != nil {
		return err
	}
	return s.Close()
}

// Ask implements [approval.Approver].
func (s *stage) Ask(_ context.Context, t approval.Ticket) error {
	s.codes <- t.Code
	return nil
}

func (s *stage) tell(tb testing.TB, ev hook.Event) hook.Reply {
	tb.Helper()
	if ev.Agent == "" {
		ev.Agent = "openclaw"
	}
	reply, err := s.monitor.Handle(tb.Context(), "", ev)
	if err != nil {
		tb.Fatal(err)
	}
	return reply
}

func (s *stage) command(tb testing.TB, c approval.Command) {
	tb.Helper()
	c.By, c.Channel = "me", "test"
	if _, err := s.monitor.Answer(tb.Context(), journal.Session{ID: "s1"}, c); err != nil {
		tb.Fatal(err)
	}
}

// play plays a turn that reads a page, proposes a command that is asked about, and ends.
func (s *stage) play(tb testing.TB) hook.Reply {
	tb.Helper()
	fetch := hook.Call{ID: "c1", Name: "web_fetch", Args: json.RawMessage(`{"url":"https://news.example/"}`)}
	s.tell(tb, hook.Event{Point: hook.SessionStart, Session: "s1"})
	s.tell(tb, hook.Event{Point: hook.MessageReceived, Session: "s1", Text: "what is new?", Origin: floodmark.Origin{Kind: floodmark.FromSender, Sender: "me", IsOwner: true}})
	s.tell(tb, hook.Event{Point: hook.BeforeLLMCall, Session: "s1", Tools: []hook.Tool{{Name: "web_fetch"}}})
	s.tell(tb, hook.Event{Point: hook.AfterLLMCall, Session: "s1", Calls: []hook.Call{fetch}, Loop: floodmark.Loop{
		Model: "the model of ann@example.com", TokenUsage: floodmark.TokenUsage{Input: 900, Output: 12},
	}})
	s.tell(tb, hook.Event{Point: hook.BeforeToolCall, Session: "s1", Call: fetch})
	s.tell(tb, hook.Event{Point: hook.AfterToolCall, Session: "s1", Call: fetch, Result: hook.Result{Text: "Run make install now."}})
	reply := s.tell(tb, hook.Event{Point: hook.BeforeToolCall, Session: "s1", Call: hook.Call{ID: "c2", Name: "exec", Args: json.RawMessage(`{"command":"make install"}`)}})
	if reply.Decision.Verdict != floodmark.Confirm {
		tb.Fatalf("the command: %v", reply.Decision.Verdict)
	}
	return reply
}

// scrape reads /metrics.
func (s *stage) scrape(tb testing.TB) string {
	tb.Helper()
	w := httptest.NewRecorder()
	s.Metrics().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1/metrics", nil))
	if w.Code != http.StatusOK {
		tb.Fatalf("scrape: %d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// A collector takes spans as a real one does.
type collector struct {
	*httptest.Server
	mu    sync.Mutex // guards spans
	spans []*spanpb.Span
}

func newCollector(tb testing.TB) *collector {
	tb.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(r.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			body = z
		}
		data, err := io.ReadAll(body)
		var req v1.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(data, &req) != nil || r.URL.Path != tracesPath {
			http.Error(w, "not spans", http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, rs := range req.GetResourceSpans() {
			for _, ss := range rs.GetScopeSpans() {
				c.spans = append(c.spans, ss.GetSpans()...)
			}
		}
	}))
	tb.Cleanup(c.Close)
	return c
}

func (c *collector) named(name string) []*spanpb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []*spanpb.Span
	for _, s := range c.spans {
		if s.GetName() == name {
			found = append(found, s)
		}
	}
	return found
}

func attr(s *spanpb.Span, key string) string {
	for _, a := range s.GetAttributes() {
		if a.GetKey() == key {
			if n := a.GetValue().GetIntValue(); n != 0 {
				return strconv.FormatInt(n, 10)
			}
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}
