package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/hook"
)

// sessions is how many agents report at once.
const sessions = 32

// A told is one line that the load prints: an acknowledged event, with the keys of the facts that
// must be in the journal because of it, or that no agent asks any more.
type told struct {
	Session string   `json:"s,omitempty"`
	Keys    []string `json:"k,omitempty"`
	Ended   bool     `json:"ended,omitempty"`   // the event was the session's last
	Idle    bool     `json:"idle,omitempty"`    // no agent asks any more
	Refused bool     `json:"refused,omitempty"` // answered, but not judged

	At time.Time `json:"at"` // when the answer came
}

// runLoad is the agents' process. It reads commands from standard input. «go PREFIX SOCKET» lets
// every session go on until its first event without an answer, and «pause» stops all sessions.
func runLoad(from string) {
	first, _ := strconv.ParseUint(from, 10, 64)
	l := &load{out: json.NewEncoder(os.Stdout)}
	l.workers = make([]*worker, sessions)
	for i := range l.workers {
		l.workers[i] = &worker{load: l, number: i, random: rand.New(rand.NewPCG(first, uint64(i)))}
	}
	var round sync.WaitGroup
	var stop context.CancelFunc = func() {}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 1:
			stop()
		case len(words) == 3:
			round.Wait()
			var ctx context.Context
			ctx, stop = context.WithCancel(context.Background())
			l.round(ctx, &round, words[1], words[2])
		}
	}
	stop()
}

type load struct {
	workers []*worker

	mu  sync.Mutex // guards out
	out *json.Encoder
}

func (l *load) tell(t told) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.out.Encode(t); err != nil {
		os.Exit(3) // no reader is left
	}
}

// round lets every worker go on with its session. When all have stopped, it tells that the load is
// idle.
func (l *load) round(ctx context.Context, round *sync.WaitGroup, prefix, socket string) {
	c, err := client.Dial(socket, client.Options{Timeout: 20 * time.Second})
	if err != nil {
		panic(err)
	}
	var all sync.WaitGroup
	for _, w := range l.workers {
		all.Go(func() { w.run(ctx, c, prefix) })
	}
	round.Go(func() {
		all.Wait()
		c.Close()
		l.tell(told{Idle: true})
	})
}

// A worker plays one agent after the other, each with one session.
type worker struct {
	*load
	number int
	random *rand.Rand

	prefix  string
	session string
	serial  int              // of sessions
	events  int              // sent in all; it is part of every text, call and child, so that no two are the same
	left    int              // events until the session ends
	hand    floodmark.CallID // the allowed call that has no result yet
	child   string           // the running sub-agent
}

// run goes on until an event has no answer.
func (w *worker) run(ctx context.Context, c *client.Client, prefix string) {
	if w.prefix != prefix {
		w.prefix, w.session = prefix, ""
	}
	for ctx.Err() == nil {
		ev, want := w.next()
		ev.Agent = "openclaw"
		reply, err := c.Handle(context.Background(), ev)
		at := time.Now()
		if err != nil {
			w.hand = "" // whether the call was recorded is unknown, so the agent sends no result of it
			return
		}
		if unjudged(reply) {
			w.tell(told{Session: string(ev.Session), Refused: true})
			w.hand = ""
			continue
		}
		w.tell(told{Session: string(ev.Session), Keys: want(reply), Ended: ev.Point == hook.SessionEnd, At: at})
	}
}

// unjudged reports whether a reply says no because nothing could be judged.
func unjudged(r hook.Reply) bool {
	return r.Decision.Verdict == floodmark.Restrict && len(r.Decision.Reasons) > 0 && r.Decision.Reasons[0].Code == floodmark.Unjudged
}

// next returns the agent's next event, and a function that returns the keys which the answer
// promises.
func (w *worker) next() (hook.Event, func(hook.Reply) []string) {
	w.events++
	if w.session == "" || w.left == 0 {
		if w.session != "" && w.left == 0 {
			ev := hook.Event{Point: hook.SessionEnd, Session: floodmark.SessionID(w.session)}
			w.session = ""
			return ev, promise("closed")
		}
		w.serial++
		w.session = fmt.Sprintf("%s-%02d-%03d", w.prefix, w.number, w.serial)
		w.left, w.hand, w.child = 40+w.random.IntN(60), "", ""
		return w.event(hook.SessionStart), promise("opened")
	}
	w.left--
	if w.hand != "" && w.random.IntN(10) < 8 {
		return w.result()
	}
	switch n := w.random.IntN(20); {
	case n < 2:
		ev := w.event(hook.MessageReceived)
		ev.Text = fmt.Sprintf("please look at item %d of the list", w.events)
		ev.Origin = floodmark.Origin{Kind: floodmark.FromSender, Sender: "me", IsOwner: true}
		return ev, promise("seen " + floodmark.DigestOf(ev.Text).String())
	case n < 5:
		return w.model()
	case n < 7:
		ev := w.event(hook.AfterLLMCall)
		ev.Calls = []hook.Call{w.call()}
		return ev, promise("answered " + string(ev.Calls[0].ID))
	case n < 8:
		return w.subagent()
	default:
		ev := w.event(hook.BeforeToolCall)
		ev.Call = w.call()
		byChild := w.child != "" && n > 14
		if byChild {
			ev.Session = floodmark.SessionID(w.child)
		}
		id := ev.Call.ID
		return ev, func(r hook.Reply) []string {
			if r.Decision.Verdict == floodmark.Allow && !byChild {
				w.hand = id
			}
			return []string{fmt.Sprintf("decided call-tool %s %s", id, r.Decision.Verdict)}
		}
	}
}

func (w *worker) event(p hook.Point) hook.Event {
	return hook.Event{Point: p, Session: floodmark.SessionID(w.session)}
}

// promise returns a function for answers that always promise the given keys.
func promise(keys ...string) func(hook.Reply) []string {
	return func(hook.Reply) []string { return keys }
}

// call returns a tool call that differs from all others.
func (w *worker) call() hook.Call {
	id := floodmark.CallID(fmt.Sprintf("c%d", w.events))
	switch w.random.IntN(4) {
	case 0:
		return hook.Call{ID: id, Name: "web_fetch", Args: fmt.Appendf(nil, `{"url":"https://news.example/%d"}`, w.events)}
	case 1:
		return hook.Call{ID: id, Name: "exec", Args: fmt.Appendf(nil, `{"command":"git log -%d"}`, w.events)}
	case 2:
		return hook.Call{ID: id, Name: "write", Args: fmt.Appendf(nil, `{"path":"/work/n%d.md","content":"note %d"}`, w.events, w.events)}
	}
	return hook.Call{ID: id, Name: "read", Args: fmt.Appendf(nil, `{"path":"/work/notes%d.md"}`, w.events)}
}

// result returns the result of the last allowed call: a text as long as a page.
func (w *worker) result() (hook.Event, func(hook.Reply) []string) {
	ev := w.event(hook.AfterToolCall)
	ev.Call = hook.Call{ID: w.hand, Name: "web_fetch"}
	words := make([]string, 20+w.random.IntN(400))
	for i := range words {
		words[i] = strconv.FormatUint(w.random.Uint64(), 36)[:4+w.random.IntN(5)]
	}
	ev.Result = hook.Result{Text: fmt.Sprintf("%d %s", w.events, strings.Join(words, " "))}
	w.hand = ""
	return ev, promise("seen " + floodmark.DigestOf(ev.Result.Text).String())
}

// model returns a call of the model, in the round with the event's number.
func (w *worker) model() (hook.Event, func(hook.Reply) []string) {
	ev := w.event(hook.BeforeLLMCall)
	ev.Iteration = w.events
	ev.Tools = []hook.Tool{{Name: "read"}, {Name: "exec"}, {Name: "web_fetch"}}
	return ev, func(r hook.Reply) []string {
		return []string{fmt.Sprintf("decided call-model %d %s", ev.Iteration, r.Decision.Verdict)}
	}
}

// subagent starts a sub-agent, or ends the running one with its result.
func (w *worker) subagent() (hook.Event, func(hook.Reply) []string) {
	if w.child == "" {
		ev := w.event(hook.SubagentSpawned)
		ev.Child = floodmark.SessionID(fmt.Sprintf("%s-sub%d", w.session, w.events))
		ev.Text = "look for more"
		return ev, func(hook.Reply) []string {
			w.child = string(ev.Child)
			return []string{"spawned " + w.child}
		}
	}
	ev := w.event(hook.SubagentEnded)
	ev.Child, ev.Text = floodmark.SessionID(w.child), fmt.Sprintf("%d things were found", w.events)
	w.child = ""
	return ev, promise("ended " + string(ev.Child))
}
