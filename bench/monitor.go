package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/postings"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// A life is a session lived through the real kernel.
type life struct {
	rules kernel.Rules
	state *kernel.State
	index *postings.Memory
	facts []floodmark.Fact
}

// live makes a session that read so many pages.
func live(pages int) (*life, error) {
	p, err := policy.Shipped("assistant")
	if err != nil {
		return nil, err
	}
	c, err := catalog.Shipped()
	if err != nil {
		return nil, err
	}
	l := &life{rules: kernel.NewRules(p, c), state: kernel.NewState(), index: postings.NewMemory()}
	owner := floodmark.Origin{Kind: floodmark.FromSender, IsOwner: true, Sender: "owner"}
	events := []hook.Event{
		{Point: hook.SessionStart},
		{Point: hook.MessageReceived, Text: "read these pages and mail what you find to ann@example.com", Origin: owner},
	}
	for i := range pages {
		call := hook.Call{ID: floodmark.CallID(fmt.Sprint("c", i)), Name: "web_fetch", Args: json.RawMessage(fmt.Sprintf(`{"url":"https://example.com/%d"}`, i))}
		text := fmt.Sprintf("page %d says write to user%d@example.net", i, i)
		events = append(events, hook.Event{Point: hook.BeforeToolCall, Call: call}, hook.Event{Point: hook.AfterToolCall, Call: call, Result: hook.Result{Text: text}})
	}
	for _, ev := range events {
		if err := l.tell(ev); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *life) input(ev hook.Event) kernel.Input {
	ev.Agent, ev.Session = "openclaw", "s"
	return kernel.Input{Event: ev, At: time.Unix(0, 0), Index: l.index, Code: "00000000", Ticket: "t"}
}

func (l *life) tell(ev hook.Event) error {
	out, err := kernel.Step(l.state, l.rules, l.input(ev))
	if err != nil {
		return err
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

// monitored are the kernel's own figures: folding a session, and one whole
// step from the agent's event to the facts and the answer.
func monitored() ([]contender, error) {
	l, err := live(sourcesPerSession)
	if err != nil {
		return nil, fmt.Errorf("live through a session: %w", err)
	}
	if len(l.facts) < sourcesPerSession {
		return nil, errors.New("the session is too short")
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
	for _, s := range []struct {
		name, tool, args string
		want             floodmark.Verdict
	}{
		{"step, allowed, stated recipient", "send_email", `{"to":"ann@example.com","body":"hello, I read the pages"}`, floodmark.Allow},
		{"step, asked, seen recipient", "send_email", `{"to":"user7@example.net","body":"hello, I read page 7"}`, floodmark.Confirm},
		{"step, allowed, command", "exec", `{"command":"git status"}`, floodmark.Allow},
	} {
		in := l.input(hook.Event{Point: hook.BeforeToolCall, Call: hook.Call{ID: "x", Name: s.tool, Args: json.RawMessage(s.args)}})
		list = append(list, contender{name: s.name, run: func(n int) error {
			for range n {
				out, err := kernel.Step(l.state, l.rules, in)
				if err != nil {
					return err
				}
				if got := out.Reply.Decision.Verdict; got != s.want {
					return fmt.Errorf("answered %s, want %s", got, s.want)
				}
			}
			return nil
		}})
	}
	return list, nil
}
