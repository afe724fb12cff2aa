package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// A life is a session whose events the real kernel judges.
type life struct {
	rules kernel.Rules
	state *kernel.State
	index *postings.Memory
	facts []floodmark.Fact
	told  int
}

// benchRules are the rules of the profile assistant with a higher cap on rounds, because the
// session is one turn with many rounds.
const benchRules = "version: 1\nprofile: assistant\nmaxIterations: 10000\n"

// live makes a session under some rules. Its agent reads the given number of files, and every
// call is allowed.
func live(files int, rules string) (*life, error) {
	p, problems := policy.Load(policy.Layer{Name: "bench", Data: []byte(rules)})
	if problems.Failed() {
		return nil, problems
	}
	c, err := catalog.Shipped()
	if err != nil {
		return nil, err
	}
	l := &life{rules: kernel.NewRules(p, c), state: kernel.NewState(), index: postings.NewMemory()}
	owner := floodmark.Origin{Kind: floodmark.FromSender, IsOwner: true, Sender: "owner"}
	events := []hook.Event{
		{Point: hook.SessionStart, Project: "/work/p", Home: "/home/u"},
		{Point: hook.MessageReceived, Text: "read these files and mail what you find to ann@example.com", Origin: owner},
	}
	for i := range files {
		call := hook.Call{ID: floodmark.CallID(fmt.Sprint("c", i)), Name: "read", Args: json.RawMessage(fmt.Sprintf(`{"path":"src/file%d.go"}`, i))}
		text := fmt.Sprintf("page %d says write to user%d@example.net", i, i)
		events = append(events, hook.Event{Point: hook.BeforeToolCall, Call: call}, hook.Event{Point: hook.AfterToolCall, Call: call, Result: hook.Result{Text: text}})
	}
	for _, ev := range events {
		if err := l.tell(ev, floodmark.Allow); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *life) input(ev hook.Event) kernel.Input {
	ev.Agent, ev.Session = "openclaw", "s"
	l.told++
	return kernel.Input{Event: ev, At: time.Unix(0, 0), Index: l.index, Code: fmt.Sprintf("%08d", l.told), Ticket: floodmark.TicketID(fmt.Sprint("t", l.told)), Readings: &kernel.Readings{}}
}

// tell judges an event and applies its facts. It returns an error unless the answer is want,
// because a session in which calls are asked about reads fewer sources.
func (l *life) tell(ev hook.Event, want floodmark.Verdict) error {
	out, err := kernel.Step(l.state, l.rules, l.input(ev))
	if err != nil {
		return err
	}
	if got := out.Reply.Decision.Verdict; got != want {
		return fmt.Errorf("%s %s was answered %s, want %s", ev.Point, ev.Call.Name, got, want)
	}
	for _, f := range out.Facts {
		if err := l.state.Apply(f); err != nil {
			return err
		}
		l.facts = append(l.facts, f)
	}
	for _, c := range out.Indexed {
		l.index.Add(c.Node, provenance.Key{}.Postings(c.Text))
	}
	return nil
}

// monitored returns contenders for the kernel's own figures: folding a session, and
// whole steps from the agent's event to the facts and the answer.
func monitored() ([]contender, error) {
	l, err := live(sourcesPerSession, benchRules)
	if err != nil {
		return nil, fmt.Errorf("live through a session: %w", err)
	}
	if n := l.state.Ledger.Len(); n < sourcesPerSession || len(l.facts) < sourcesPerSession {
		return nil, fmt.Errorf("the session has %d sources, want %d", n, sourcesPerSession)
	}
	fold := func(n int) error {
		for range n {
			if _, err := kernel.Replay(l.facts[:sourcesPerSession]); err != nil {
				return err
			}
		}
		return nil
	}
	list := []contender{{name: "fold 200 facts", run: fold}}
	for _, s := range steps() {
		list = append(list, s.in(l))
	}
	return list, nil
}

// A timed is a step to be timed and the answer that it must give.
type timed struct {
	name, tool, args string
	want             floodmark.Verdict
}

func steps() []timed {
	return []timed{
		{"step, allowed, stated recipient", "send_email", `{"to":"ann@example.com","body":"hello, I read the pages"}`, floodmark.Allow},
		{"step, asked, seen recipient", "send_email", `{"to":"user7@example.net","body":"hello, I read page 7"}`, floodmark.Confirm},
		{"step, allowed, command", "exec", `{"command":"git status"}`, floodmark.Allow},
	}
}

// in is the call in a session. It fails if it is answered otherwise.
func (c timed) in(l *life) contender {
	in := l.input(hook.Event{Point: hook.BeforeToolCall, Call: hook.Call{ID: "x", Name: c.tool, Args: json.RawMessage(c.args)}})
	return contender{name: c.name, run: func(n int) error {
		for range n {
			out, err := kernel.Step(l.state, l.rules, in)
			if err != nil {
				return err
			}
			if got := out.Reply.Decision.Verdict; got != c.want {
				return fmt.Errorf("answered %s, want %s", got, c.want)
			}
		}
		return nil
	}}
}
