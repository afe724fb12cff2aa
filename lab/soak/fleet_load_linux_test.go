package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/fleet/fleetcheck"
)

// fleetSessions is how many agents work at once.
const fleetSessions = 64

// A crowd is the agents of one drill. Each event may go to another node than the one before it.
// Into some sessions strangers write at the same time, through any node.
type crowd struct {
	fleet  *fleet
	prefix string
	pace   time.Duration // between two events of one agent, on average

	mu  sync.Mutex // guards log
	log []fleetcheck.Heard

	stop context.CancelFunc
	work sync.WaitGroup
}

func (f *fleet) crowd(prefix string, seed uint64, pace time.Duration) *crowd {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := &crowd{fleet: f, prefix: prefix, pace: pace, stop: cancel}
	var clients []*client.Client
	for i := range f.nodes {
		var also []string
		for k := 1; k < len(f.nodes); k++ {
			also = append(also, f.nodes[(i+k)%len(f.nodes)].url)
		}
		way, err := client.Dial(f.nodes[i].url, client.Options{Token: f.token, TLS: f.tls, Also: also, Timeout: 30 * time.Second})
		if err != nil {
			f.t.Fatal(err)
		}
		clients = append(clients, way)
	}
	c.work.Go(func() { f.balance(ctx) })
	for i := range fleetSessions {
		w := &fleetAgent{crowd: c, clients: clients, session: floodmark.SessionID(fmt.Sprintf("%s-%02d", prefix, i)), random: rand.New(rand.NewPCG(seed, uint64(i)))}
		c.work.Go(func() { w.run(ctx) })
		if i%4 == 0 {
			s := &fleetAgent{crowd: c, clients: clients, session: w.session, random: rand.New(rand.NewPCG(seed, uint64(1000+i)))}
			c.work.Go(func() { s.strangers(ctx) })
		}
	}
	f.t.Cleanup(func() {
		c.end()
		for _, way := range clients {
			way.Close()
		}
	})
	return c
}

// end stops the agents and waits for their last answers.
func (c *crowd) end() {
	c.stop()
	c.work.Wait()
}

// heard returns the answers so far.
func (c *crowd) heard() []fleetcheck.Heard {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]fleetcheck.Heard(nil), c.log...)
}

// A fleetAgent is one agent with one session.
type fleetAgent struct {
	*crowd
	clients []*client.Client
	session floodmark.SessionID
	random  *rand.Rand
	n       int
}

// tell sends an event to a node that was ready when the balancer last asked. If there is none, it
// sends the event to any node.
func (w *fleetAgent) tell(ev hook.Event) hook.Reply {
	ev.Agent, ev.Session = "openclaw", w.session
	at := w.random.IntN(len(w.clients))
	for k := range w.clients {
		if i := (at + k) % len(w.clients); w.fleet.nodes[i].ready.Load() {
			at = i
			break
		}
	}
	sent := time.Now()
	reply, err := w.clients[at].Handle(context.Background(), ev)
	h := fleetcheck.Of(ev, reply, err)
	h.Sent, h.Answered, h.Node = sent, time.Now(), w.fleet.nodes[at].name
	w.mu.Lock()
	w.log = append(w.log, h)
	w.mu.Unlock()
	return reply
}

func (w *fleetAgent) rest(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(w.pace/2 + time.Duration(w.random.Int64N(int64(w.pace)))):
		return true
	}
}

func (w *fleetAgent) run(ctx context.Context) {
	w.tell(hook.Event{Point: hook.SessionStart})
	for w.rest(ctx) {
		w.n++
		if w.random.IntN(6) == 0 {
			w.tell(hook.Event{Point: hook.MessageReceived, Text: fmt.Sprintf("%s: look at item %d", w.session, w.n), Origin: floodmark.Origin{Kind: floodmark.FromSender, Sender: "me", IsOwner: true}})
			continue
		}
		call := w.call()
		if w.tell(hook.Event{Point: hook.BeforeToolCall, Call: call}).Decision.Verdict != floodmark.Allow || !w.rest(ctx) {
			continue
		}
		w.tell(hook.Event{Point: hook.AfterToolCall, Call: call, Result: hook.Result{Text: fmt.Sprintf("%s: what %s gave, number %d", w.session, call.Name, w.n)}})
	}
	w.tell(hook.Event{Point: hook.SessionEnd})
}

// call returns a call that differs from all other calls of this session.
func (w *fleetAgent) call() hook.Call {
	id := floodmark.CallID(fmt.Sprintf("c%d", w.n))
	switch w.random.IntN(5) {
	case 0:
		if w.n > 5 {
			return hook.Call{ID: id, Name: "web_fetch", Args: fmt.Appendf(nil, `{"url":"https://news.example/%d"}`, w.n)}
		}
	case 1, 2:
		return hook.Call{ID: id, Name: "exec", Args: fmt.Appendf(nil, `{"command":"git log -%d"}`, w.n)}
	}
	return hook.Call{ID: id, Name: "read", Args: json.RawMessage(fmt.Sprintf(`{"path":"/work/notes%d.md"}`, w.n))}
}

// strangers sends messages of strangers to a session in which an agent works at the same time.
func (w *fleetAgent) strangers(ctx context.Context) {
	for w.rest(ctx) {
		if w.n++; w.n%3 != 0 {
			continue // strangers are slower than the agent
		}
		w.tell(hook.Event{Point: hook.MessageReceived, Text: fmt.Sprintf("%s: a stranger says %d", w.session, w.n), Origin: floodmark.Origin{Kind: floodmark.FromSender, Sender: "stranger"}})
	}
}
