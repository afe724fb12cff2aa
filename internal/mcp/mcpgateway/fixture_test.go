package mcpgateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/mcp/mcppins"
	"github.com/floodmark/floodmark/internal/mcp/mcpstdio"
)

func TestMain(m *testing.M) {
	if beServer() {
		return
	}
	goleak.VerifyTestMain(m)
}

// A fakeJudge answers as a test wants and remembers what it was told.
type fakeJudge struct {
	mu     sync.Mutex
	events []hook.Event
	answer func(ctx context.Context, ev hook.Event) (hook.Reply, error)
}

func yes() hook.Reply {
	return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}}
}

func no(line string) hook.Reply { return hook.Reply{Line: line} }

func (j *fakeJudge) Handle(ctx context.Context, ev hook.Event) (hook.Reply, error) {
	if err := ev.Check(); err != nil && ev.Session != "" {
		return hook.Reply{}, err
	}
	j.mu.Lock()
	j.events = append(j.events, ev)
	answer := j.answer
	j.mu.Unlock()
	if answer != nil {
		return answer(ctx, ev)
	}
	return yes(), nil
}

// told returns the events of a point.
func (j *fakeJudge) told(p hook.Point) []hook.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	var list []hook.Event
	for _, ev := range j.events {
		if ev.Point == p {
			list = append(list, ev)
		}
	}
	return list
}

// settled returns the events of a point once nothing is going on any more. It
// works in a bubble.
func (j *fakeJudge) settled(p hook.Point) []hook.Event {
	synctest.Wait()
	return j.told(p)
}

// only refuses what a test names.
func only(point hook.Point, reply hook.Reply, err error) func(context.Context, hook.Event) (hook.Reply, error) {
	return func(_ context.Context, ev hook.Event) (hook.Reply, error) {
		if ev.Point == point {
			return reply, err
		}
		return yes(), nil
	}
}

// seesAll is a book in which nothing is held, unless a test says so.
type seesAll struct {
	held     map[string]string
	accepted bool
}

func (p seesAll) See(_ context.Context, _, _ string, defs []mcppins.Definition) ([]mcppins.Verdict, error) {
	out := make([]mcppins.Verdict, len(defs))
	for i, d := range defs {
		line := p.held[d.Kind+" "+d.Name]
		out[i] = mcppins.Verdict{Held: line != "", Line: line, Accepted: p.accepted}
	}
	return out, nil
}

// A side is one end of a relay as a test plays it, line by line.
type side struct {
	t    testing.TB
	in   *io.PipeWriter
	out  chan string
	conn mcp.Connection
	vain *atomic.Bool // a write to it failed
	deaf func() error // it reads nothing from here on
}

func newSide(t testing.TB) *side {
	t.Helper()
	toRelay, in := io.Pipe()
	out, fromRelay := io.Pipe()
	s := &side{t: t, in: in, out: make(chan string, 1024), deaf: out.Close, vain: &atomic.Bool{}}
	s.conn = mcpstdio.Lines(toRelay, &noticed{fromRelay, s.vain}, func() error { return errors.Join(toRelay.Close(), fromRelay.Close()) }, nil)
	go func() {
		defer close(s.out)
		d := json.NewDecoder(out)
		for {
			var raw json.RawMessage
			if d.Decode(&raw) != nil {
				return
			}
			s.out <- string(raw)
		}
	}()
	return s
}

// A noticed writer notices that a write failed.
type noticed struct {
	io.Writer
	failed *atomic.Bool
}

func (n *noticed) Write(data []byte) (int, error) {
	written, err := n.Writer.Write(data)
	if err != nil {
		n.failed.Store(true)
	}
	return written, err
}

// say writes lines to the relay.
func (s *side) say(lines ...string) {
	s.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(s.in, l+"\n"); err != nil {
			s.t.Errorf("say %s: %v", l, err)
		}
	}
}

// hear returns the next line from the relay.
func (s *side) hear() string {
	s.t.Helper()
	l, ok := <-s.out
	if !ok {
		s.t.Fatal("the relay has ended")
	}
	return l
}

// wants compares the next line, in any order of its keys.
func (s *side) wants(want string) {
	s.t.Helper()
	if got := s.hear(); !same(got, want) {
		s.t.Fatalf("heard %s\nwant  %s", got, want)
	}
}

// missed checks that the relay has tried to tell it something in vain. It works in
// a bubble.
func (s *side) missed() {
	s.t.Helper()
	synctest.Wait()
	if !s.vain.Load() {
		s.t.Fatal("nothing was tried")
	}
}

// silent checks that nothing is said for a while. It works in a bubble, where that
// is exact: all that can happen in this time has happened.
func (s *side) silent() {
	s.t.Helper()
	time.Sleep(50 * time.Millisecond)
	synctest.Wait()
	select {
	case l, ok := <-s.out:
		if ok {
			s.t.Errorf("heard %s, want nothing", l)
		}
	default:
	}
}

func same(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

// A stand is a relay between two sides that a test plays.
type stand struct {
	client, server *side
	judge          *fakeJudge
	ended          chan error
}

func newStand(t testing.TB, j *fakeJudge, pins Pins) *stand {
	t.Helper()
	return newStandWith(t, j, pins, func(*Options) {})
}

func newStandWith(t testing.TB, j *fakeJudge, pins Pins, change func(*Options)) *stand {
	t.Helper()
	if j == nil {
		j = &fakeJudge{}
	}
	if pins == nil {
		pins = seesAll{accepted: true}
	}
	s := &stand{client: newSide(t), server: newSide(t), judge: j, ended: make(chan error, 1)}
	o := Options{Server: "files", Identity: "npx files", Session: NewSession(j, Client{}), Pins: pins, Note: func(l string) { t.Log(l) }, retry: 20 * time.Millisecond}
	change(&o)
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { s.ended <- Run(ctx, s.client.conn, s.server.conn, o) })
	t.Cleanup(func() {
		cancel()
		_ = s.client.in.Close()
		_ = s.server.in.Close()
		run.Wait()
	})
	return s
}

const (
	echoTool = `{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}},"annotations":{"readOnlyHint":true}}`
	askTools = `{"jsonrpc":"2.0","id":100,"method":"tools/list"}`
)

// listed lets the client learn of tools.
func (s *stand) listed(tools string) {
	s.client.t.Helper()
	s.client.say(askTools)
	s.server.wants(askTools)
	s.server.say(`{"jsonrpc":"2.0","id":100,"result":{"tools":[` + tools + `]}}`)
	s.client.wants(`{"jsonrpc":"2.0","id":100,"result":{"tools":[` + tools + `]}}`)
}
