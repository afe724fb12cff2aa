package auditor_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ask/auditor"
	"github.com/floodmark/floodmark/internal/outward/nettest"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// machine is where the services of these tests listen. Each belongs to the bubble that
// started it.
var machine = nettest.New()

// serve serves until the test ends, and returns the address.
func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := machine.Server(h)
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// A service is a model that records its requests.
type service struct {
	URL  string
	kind auditor.Kind
	say  func(n int) string // what it answers to the nth request, from 0

	mu       sync.Mutex
	requests []string // headers and body, as they came
}

func newService(t testing.TB, k auditor.Kind, say func(n int) string) *service {
	t.Helper()
	s := &service{kind: k, say: say}
	s.URL = serve(t, s.serve)
	return s
}

// word returns a say that always answers the same.
func word(text string) func(int) string { return func(int) string { return text } }

func (s *service) serve(w http.ResponseWriter, r *http.Request) {
	var raw strings.Builder
	fmt.Fprintln(&raw, r.Method, r.URL)
	_ = r.Header.Write(&raw)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	raw.Write(body)
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, raw.String())
	s.mu.Unlock()
	_, _ = w.Write(answer(s.kind, s.say(n), ""))
}

func (s *service) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

// answer returns the answer of a service of some kind. stop is why the model stopped.
func answer(k auditor.Kind, text, stop string) []byte {
	var v any = map[string]any{"choices": []any{map[string]any{"finish_reason": stop, "message": map[string]any{"role": "assistant", "content": text}}}}
	if k == auditor.Anthropic {
		v = map[string]any{"type": "message", "stop_reason": stop, "content": []any{map[string]any{"type": "text", "text": text}}}
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// newAuditor returns an auditor that asks a service.
func newAuditor(t testing.TB, endpoint string, k auditor.Kind, change ...func(*auditor.Config)) *auditor.Auditor {
	t.Helper()
	c := auditor.Config{Endpoint: endpoint, Kind: k, Model: "small", Timeout: 10 * time.Second, Dial: machine.Dial}
	for _, f := range change {
		f(&c)
	}
	a, err := auditor.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// aCase returns a small case. A different word makes it a different case.
func aCase(word string) audit.Case {
	return audit.Case{
		OwnerMessages: []string{"Please send Anna the notes."}, SourceTools: []string{"web_fetch"},
		Tool: floodmark.ToolRef{Name: "mail"}, Effects: []floodmark.Effect{floodmark.Send},
		Arguments: []audit.Argument{audit.NewArgument("to", "anna@firm.example", false), audit.NewArgument("body", word, true)},
	}
}

const tools = `
agent: a
about: tools of these tests
tools:
  - {tool: page, about: reads a page, effect: fetch, returns: {trust: untrusted, secrecy: public}, args: {url: {role: critical, is: url}}}
  - {tool: look, about: looks around, effect: observe, returns: {trust: local, secrecy: internal}, args: {q: {role: content, is: text}}}
  - {tool: wall, about: reads what friends wrote, effect: observe, returns: {trust: shared, secrecy: internal}, args: {q: {role: content, is: text}}}
  - {tool: mail, about: sends a mail, effect: send, returns: {trust: local, secrecy: internal}, licence: [email, send], args: {to: {role: critical, is: destination}, body: {role: content, is: text}}}
  - {tool: keep, about: writes a note, effect: write, returns: {trust: local, secrecy: internal}, licence: [save], args: {path: {role: critical, is: path}, text: {role: content, is: text}}}
  - {tool: shell, about: runs code, effect: run, returns: {trust: local, secrecy: internal}, args: {code: {role: critical, is: text}}}
  - {tool: book, about: changes a calendar, effect: change, returns: {trust: local, secrecy: internal}, licence: [book], args: {day: {role: critical, is: when}, title: {role: content, is: text}}}
`

// loaded caches the rules of rulesOf, because loading is slow, above all with the race detector.
var loaded sync.Map

func rulesOf(t testing.TB, user string) kernel.Rules {
	t.Helper()
	if r, ok := loaded.Load(user); ok {
		return r.(kernel.Rules)
	}
	p, problems := policy.Load(policy.Layer{Name: "user", Data: []byte("version: 1\n" + user)})
	if problems.Failed() {
		t.Fatal(problems)
	}
	own, err := catalog.Parse("tools", []byte(tools))
	if err != nil {
		t.Fatal(err)
	}
	r := kernel.NewRules(p, catalog.New([]*catalog.File{own}, nil))
	loaded.Store(user, r)
	return r
}

// newMonitor returns a monitor with an auditor and a policy.
func newMonitor(t testing.TB, user string, a audit.Auditor, observe func(monitor.Observation)) (*monitor.Monitor, journal.Journal) {
	t.Helper()
	rules := rulesOf(t, user)
	store := journal.NewMemory()
	var tickets atomic.Int64
	m, err := monitor.New(monitor.Config{
		Journal: store, Rules: func() kernel.Rules { return rules }, Auditor: a, Observe: observe,
		Key:     func(string) (provenance.Key, error) { return provenance.Key{7}, nil },
		Now:     func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) },
		NewCode: func() string { return "c0dec0de" }, NewTicket: func() floodmark.TicketID { return floodmark.TicketID(fmt.Sprint("t", tickets.Add(1))) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m, store
}

// tell handles an event that must be answered.
func tell(t testing.TB, m *monitor.Monitor, session string, ev hook.Event) hook.Reply {
	t.Helper()
	ev.Agent, ev.Session = "a", floodmark.SessionID(session)
	reply, err := m.Handle(t.Context(), "", ev)
	if err != nil {
		t.Fatalf("%s: %v", ev.Point, err)
	}
	return reply
}

func says(text string) hook.Event {
	return hook.Event{Point: hook.MessageReceived, Text: text, Typed: true, Origin: floodmark.Origin{Kind: floodmark.FromSender, Name: "chat", Sender: "owner", IsOwner: true}}
}

func calls(id, tool, args string) hook.Event {
	return hook.Event{Point: hook.BeforeToolCall, Call: hook.Call{ID: floodmark.CallID(id), Name: tool, Args: json.RawMessage(args)}}
}

func returned(call hook.Event, text string) hook.Event {
	call.Point, call.Result = hook.AfterToolCall, hook.Result{Text: text}
	return call
}
