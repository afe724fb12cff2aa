package kernel_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// deskTools are the tools of the agent a: one for each kind of tool, so that no test here depends
// on what the shipped catalog says of real tools.
const deskTools = `
agent: a
about: tools of these tests
paths: {shared: ["/shared/**"]}
tools:
  - {tool: look, about: looks at nothing that matters, effect: observe, returns: {trust: local, secrecy: internal}, args: {q: {role: content, is: text}}}
  - {tool: diary, about: reads the diary, effect: observe, returns: {trust: local, secrecy: private}, args: {q: {role: content, is: text}}}
  - {tool: vault, about: reads keys, effect: observe, returns: {trust: local, secrecy: secret}, args: {q: {role: content, is: text}}}
  - {tool: inbox, about: reads the mails, effect: fetch, own: true, returns: {trust: external, secrecy: private}, args: {q: {role: content, is: text}}}
  - {tool: wall, about: reads what friends wrote, effect: observe, returns: {trust: shared, secrecy: internal}, args: {q: {role: content, is: text}}}
  - {tool: page, about: reads a page, effect: fetch, returns: {trust: untrusted, secrecy: public}, args: {url: {role: critical, is: url}, other: {role: critical, is: url}, note: {role: content, is: text}}}
  - tool: mail
    about: sends a mail
    effect: send
    returns: {trust: local, secrecy: internal}
    licence: [email, send, write]
    args:
      to: {role: critical, is: destination}
      amount: {role: critical, is: amount}
      id: {role: critical, is: id}
      title: {role: critical, is: name}
      ref: {role: critical, is: id, needs: local}
      key: {role: critical, is: secret}
      urgent: {role: critical, is: flag}
      body: {role: content, is: text}
  - {tool: keep, about: writes a note, effect: write, returns: {trust: local, secrecy: internal}, licence: [save], args: {path: {role: critical, is: path}, text: {role: content, is: text}}}
  - {tool: mend, about: applies a patch, effect: write, returns: {trust: local, secrecy: internal}, args: {command: {role: critical, is: patch}}}
  - {tool: shell, about: runs code, effect: run, returns: {trust: local, secrecy: internal}, args: {code: {role: critical, is: text}}}
  - {tool: setup, about: changes the agent, effect: admin, returns: {trust: local, secrecy: internal}, args: {key: {role: critical, is: text}}}
`

// loaded keeps what deskRules and rulesWith made: rules never change, and loading
// is slow.
var loaded sync.Map

// deskRules returns the policy with the tools above.
func deskRules(t testing.TB, user string) kernel.Rules {
	t.Helper()
	if r, ok := loaded.Load(user); ok {
		return r.(kernel.Rules)
	}
	p, problems := policy.Load(policy.Layer{Name: "user", Data: []byte("version: 1\n" + user)})
	if problems.Failed() {
		t.Fatal(problems)
	}
	r := kernel.NewRules(p, deskCatalog(t, deskTools))
	loaded.Store(user, r)
	return r
}

// rulesWith returns a policy with other tools.
func rulesWith(t testing.TB, p *policy.Policy, tools string) kernel.Rules {
	t.Helper()
	key := struct {
		p     *policy.Policy
		tools string
	}{p, tools}
	if r, ok := loaded.Load(key); ok {
		return r.(kernel.Rules)
	}
	r := kernel.NewRules(p, deskCatalog(t, tools))
	loaded.Store(key, r)
	return r
}

func deskCatalog(t testing.TB, text string) *catalog.Catalog {
	t.Helper()
	tools, err := catalog.Parse("tools", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return catalog.New([]*catalog.File{tools}, nil)
}

// A desk is one session of one agent, played step by step.
type desk struct {
	t      testing.TB
	rules  kernel.Rules
	state  *kernel.State
	facts  []floodmark.Fact
	index  *postings.Memory
	at     time.Time
	child  *kernel.State
	asked  int
	id     floodmark.SessionID
	code   string             // of the last question
	ticket floodmark.TicketID // of the last question
}

// newDesk opens a session under the given policy.
func newDesk(t testing.TB, user string) *desk {
	t.Helper()
	d := &desk{
		t: t, rules: deskRules(t, user), state: kernel.NewState(), index: postings.NewMemory(), id: "s",
		at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	d.tell(hook.Event{Point: hook.SessionStart})
	return d
}

func (d *desk) input(ev hook.Event) kernel.Input {
	ev.Agent, ev.Session = "a", d.id
	return kernel.Input{
		Event: ev, At: d.at, Key: provenance.Key{7}, Index: d.index, Child: d.child,
		Code: fmt.Sprintf("%08x", 0xc0de0001+d.asked), Ticket: floodmark.TicketID(fmt.Sprint("t", d.asked+1)),
	}
}

// take applies what came out.
func (d *desk) take(out kernel.Output, err error) kernel.Output {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
	in := d.input(hook.Event{})
	for _, f := range out.Facts {
		if err := sameWords(d.state, d.rules, in, d.facts, f, out); err != nil {
			d.t.Error(err)
		}
		d.apply(f)
	}
	for _, c := range out.Indexed {
		d.index.Add(c.Node, provenance.Key{7}.Postings(c.Text))
	}
	if out.Ask != nil {
		if err := asShown(d.state, d.at, out.Ask); err != nil {
			d.t.Error(err)
		}
		d.ticket = out.Ask.ID
		if out.Ask.Code != "" {
			d.code = out.Ask.Code
			d.asked++
		}
	}
	return out
}

func (d *desk) apply(facts ...floodmark.Fact) {
	d.t.Helper()
	for _, f := range facts {
		f, err := roundTrip(f)
		if err != nil {
			d.t.Fatal(err)
		}
		if err := d.state.Apply(f); err != nil {
			d.t.Fatal(err)
		}
		d.facts = append(d.facts, f)
	}
}

func (d *desk) tell(ev hook.Event) kernel.Output {
	d.t.Helper()
	return d.take(kernel.Step(d.state, d.rules, d.input(ev)))
}

// answer sends a command on a channel that proved the owner.
func (d *desk) answer(cmd approval.Command) kernel.Output {
	d.t.Helper()
	cmd.By = "olga"
	return d.take(kernel.Answer(d.state, d.rules, d.input(hook.Event{}), cmd))
}

func olga() floodmark.Origin {
	return floodmark.Origin{Kind: floodmark.FromSender, Name: "chat", Sender: "olga", IsOwner: true}
}

// owner sends a message that the owner typed.
func (d *desk) owner(text string) kernel.Output {
	d.t.Helper()
	return d.tell(hook.Event{Point: hook.MessageReceived, Origin: olga(), Text: text, Typed: true})
}

func toolCall(tool, args string) hook.Call {
	c := hook.Call{ID: floodmark.CallID(tool + floodmark.DigestOf(args).Short()), Name: tool}
	if args != "" {
		c.Args = json.RawMessage(args)
	}
	return c
}

func (d *desk) call(tool, args string) kernel.Output {
	d.t.Helper()
	return d.tell(hook.Event{Point: hook.BeforeToolCall, Call: toolCall(tool, args)})
}

// reads calls a tool and takes in what it gave back.
func (d *desk) reads(tool, args, text string) {
	d.t.Helper()
	if out := d.call(tool, args); out.Reply.Decision.Verdict != floodmark.Allow {
		d.t.Fatalf("%s %s: %+v", tool, args, out.Reply.Decision)
	}
	d.tell(hook.Event{Point: hook.AfterToolCall, Call: toolCall(tool, args), Result: hook.Result{Text: text}})
}

func (d *desk) reply(text string, to hook.Audience) hook.Reply {
	d.t.Helper()
	return d.tell(hook.Event{Point: hook.BeforeResponseEmit, Text: text, Audience: to}).Reply
}

func (d *desk) opine(tool, args string, o audit.Opinion) kernel.Output {
	d.t.Helper()
	return d.take(kernel.Opine(d.state, d.rules, d.input(hook.Event{Point: hook.BeforeToolCall, Call: toolCall(tool, args)}), o))
}

// decided returns the decision of a call in the facts of an answer.
func decided(t testing.TB, out kernel.Output) floodmark.ActionDecided {
	t.Helper()
	for _, f := range out.Facts {
		if f, ok := f.(floodmark.ActionDecided); ok {
			return f
		}
	}
	t.Fatalf("nothing was decided: %+v", out.Facts)
	return floodmark.ActionDecided{}
}

// kept returns the facts of one kind in an answer.
func kept[F floodmark.Fact](out kernel.Output) (list []F) {
	for _, f := range out.Facts {
		if f, ok := f.(F); ok {
			list = append(list, f)
		}
	}
	return list
}
