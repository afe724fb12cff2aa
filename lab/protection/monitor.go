package protection

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// Rules returns the rules for a user who has chosen only a profile and has described the suites'
// tools.
func Rules(profile string) (kernel.Rules, error) {
	p, err := policy.Shipped(profile)
	if err != nil {
		return kernel.Rules{}, err
	}
	shipped, err := catalog.Shipped()
	if err != nil {
		return kernel.Rules{}, err
	}
	files, err := SuiteFiles()
	if err != nil {
		return kernel.Rules{}, err
	}
	return kernel.NewRules(p, catalog.New(files, shipped)), nil
}

// Monitor returns the decider that is the real monitor: every event of the recording goes through
// the kernel under the given rules, as it would from an agent that reports both model calls and
// tool calls.
func Monitor(name string, rules kernel.Rules) (Decider, error) { return Audited(name, rules, nil) }

// Audited returns [Monitor] with an auditor.
func Audited(name string, rules kernel.Rules, says Simulated) (Decider, error) {
	m := &monitor{name: name, rules: rules, says: says, tools: map[string][]hook.Tool{}}
	files, err := SuiteFiles()
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		for _, p := range f.Profiles() {
			for _, server := range p.Servers() {
				for _, tool := range p.Tools() {
					m.tools[server] = append(m.tools[server], hook.Tool{Server: server, Name: tool})
				}
			}
		}
	}
	return m, nil
}

type monitor struct {
	name  string
	rules kernel.Rules
	says  Simulated              // the auditor; nil if there is none
	tools map[string][]hook.Tool // by server
	// postings keeps the index of each text. The same results appear in many traces, and hashing
	// them again would take longer than everything else.
	postings sync.Map // floodmark.Digest -> provenance.Postings
	kept     atomic.Int64
}

// maxKept bounds the postings that are kept, at 16 bytes each. It is enough for all recorded texts
// and some mutated ones, which hardly ever appear again.
const maxKept = 24 << 20

func (m *monitor) Name() string { return m.name }

// Hashes identify the rules that the monitor decides by.
func (m *monitor) Hashes() (policy, catalog string) {
	return m.rules.Policy.Hash().String(), m.rules.Catalog.Hash().String()
}

// agent is the name of the recorded agents. This agent has no built-in tools: all tools are a
// server's.
const agent = "recorded"

// Begin opens a session and has the owner say the user's message in a direct conversation. The
// recording has the user's own words, so they are treated as typed.
func (m *monitor) Begin(t *Trace) (Run, error) {
	r := &monitorRun{
		monitor: m, trace: t, server: t.Server(), state: kernel.NewState(),
		index: index{monitor: m}, asked: map[floodmark.CallID]floodmark.TicketID{}, places: map[floodmark.TicketID]string{},
	}
	if _, err := r.step(hook.Event{Point: hook.SessionStart, Cause: hook.Startup}); err != nil {
		return nil, err
	}
	_, err := r.step(hook.Event{
		Point: hook.MessageReceived, Text: t.User.Body, Typed: true,
		Origin: floodmark.Origin{Kind: floodmark.FromSender, Name: "chat", Sender: "owner", IsOwner: true},
	})
	r.messages = []hook.Content{
		{Kind: floodmark.NodeSystemPrompt, Origin: floodmark.Origin{Kind: floodmark.FromSystem}, Text: t.System.Body},
		{Kind: floodmark.NodeInput, Digest: floodmark.DigestOf(t.User.Body)},
	}
	return r, err
}

// A monitorRun is one session.
type monitorRun struct {
	*monitor
	trace    *Trace
	server   string
	state    *kernel.State
	index    index
	messages []hook.Content // the content of the next model call
	tickets  int
	hidden   []string // tools the model was not offered
	blocked  bool     // the model was not called at all
	asked    map[floodmark.CallID]floodmark.TicketID
	places   map[floodmark.TicketID]string // what the owner has to pick for each question
	decided  floodmark.ActionDecided       // the newest decision
	newest   *approval.Ticket              // the newest question
}

// start returns when every recorded session takes place. Nothing in a replay depends on the clock.
func start() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }

// input adds to an event what the kernel cannot obtain itself.
func (r *monitorRun) input(ev hook.Event) kernel.Input {
	ev.Agent, ev.Session = agent, floodmark.SessionID(r.trace.ID)
	r.tickets++
	return kernel.Input{
		Event: ev, At: start(), Index: &r.index,
		Code: "00000000", Ticket: floodmark.TicketID("t" + strconv.Itoa(r.tickets)),
	}
}

func (r *monitorRun) step(ev hook.Event) (hook.Reply, error) {
	out, err := kernel.Step(r.state, r.rules, r.input(ev))
	if err != nil {
		return hook.Reply{}, err
	}
	return out.Reply, r.apply(out)
}

// apply does what a monitor does with an output, without recording it.
func (r *monitorRun) apply(out kernel.Output) error {
	for _, f := range out.Facts {
		if err := r.state.Apply(f); err != nil {
			return err
		}
		if d, ok := f.(floodmark.ActionDecided); ok {
			r.decided = d
		}
	}
	for _, x := range out.Indexed {
		r.index.add(x)
	}
	if out.Ask != nil {
		r.places[out.Ask.ID] = out.Ask.Call.Place()
		r.newest = out.Ask
	}
	return nil
}

// indexed returns the index of a text, and makes it on first use.
func (m *monitor) indexed(x kernel.Indexed) provenance.Postings {
	digest := x.Digest
	if digest.IsZero() {
		digest = floodmark.DigestOf(x.Text)
	}
	if kept, ok := m.postings.Load(digest); ok {
		if p, ok := kept.(provenance.Postings); ok {
			return p
		}
	}
	p := provenance.Key{}.Postings(x.Text)
	if m.kept.Add(int64(len(p))) < maxKept {
		m.postings.Store(digest, p)
	}
	return p
}

// Propose reports the model call and its answer.
func (r *monitorRun) Propose(s *Step) error {
	reply, err := r.step(hook.Event{Point: hook.BeforeLLMCall, Messages: r.messages, Tools: r.tools[r.server]})
	if err != nil {
		return err
	}
	r.hidden, r.blocked = reply.Decision.Hidden, reply.Decision.Verdict < floodmark.Allow
	for i, c := range r.messages { // later messages refer to them by digest
		r.messages[i] = hook.Content{Kind: c.Kind, Digest: c.ContentDigest()}
	}
	ev := hook.Event{Point: hook.AfterLLMCall, Calls: make([]hook.Call, len(s.Calls))}
	for i := range s.Calls {
		ev.Calls[i] = r.call(&s.Calls[i])
	}
	if s.Text.Body != "" {
		r.messages = append(r.messages, hook.Content{
			Kind: floodmark.NodeOutput, Origin: floodmark.Origin{Kind: floodmark.FromModel}, Text: s.Text.Body,
		})
	}
	if _, err = r.step(ev); refused(err) {
		r.blocked, err = true, nil
	}
	return err
}

// refused reports whether the monitor rejects an event. The answer is then the zero reply, which
// restricts.
func refused(err error) bool { return errors.Is(err, hook.ErrTooLarge) }

func (r *monitorRun) call(c *Call) hook.Call {
	return hook.Call{ID: floodmark.CallID("c" + strconv.Itoa(c.Index)), Server: r.server, Name: c.Tool, Args: c.Args}
}

// Ask makes the decision that is measured.
func (r *monitorRun) Ask(c *Call) (bool, error) {
	call := r.call(c)
	ev := hook.Event{Point: hook.BeforeToolCall, Call: call}
	reply, err := r.step(ev)
	if err == nil && reply.Decision.Verdict == floodmark.Audit && r.says != nil {
		reply, err = r.opine(ev, r.says(r.trace, c))
	}
	if refused(err) {
		r.decided = floodmark.ActionDecided{}
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if reply.Decision.Verdict < floodmark.Allow {
		r.asked[call.ID] = reply.Ticket
	}
	return reply.Decision.Verdict < floodmark.Allow || r.blocked || slices.Contains(r.hidden, r.server+"/"+c.Tool), nil
}

// Why returns the verdict, the rules that led to it, and the arguments that the owner did not
// state.
func (r *monitorRun) Why() string {
	d := r.decided.Decision
	words := []string{d.Verdict.String()}
	if d.Verdict == floodmark.Allow {
		words = append(words, "but the model was not called or not offered the tool")
	}
	for _, reason := range d.Reasons {
		words = append(words, reason.Rule)
	}
	for _, a := range r.decided.Action.Arguments {
		if a.Role != floodmark.Content && a.Whence != floodmark.Stated {
			words = append(words, a.Path+"="+a.Whence.String())
		}
	}
	return strings.Join(words, " ")
}

// Feed reports the result of a call. If the call was asked about, it is approved first.
func (r *monitorRun) Feed(c *Call, _ bool) error {
	call := r.call(c)
	if ticket, ok := r.asked[call.ID]; ok && ticket != "" {
		if err := r.approve(call, ticket); err != nil {
			return fmt.Errorf("approve: %w", err)
		}
	}
	if c.Result.Body != "" {
		r.messages = append(r.messages, hook.Content{Kind: floodmark.NodeToolResult, Digest: floodmark.DigestOf(c.Result.Body)})
	}
	_, err := r.step(hook.Event{Point: hook.AfterToolCall, Call: call, Result: hook.Result{Text: c.Result.Body, Error: c.Failed}})
	if refused(err) {
		return nil // the next model call does not know the result, so it is not believed
	}
	return err
}

// Answer passes the answer through the last check. Only the owner reads it.
func (r *monitorRun) Answer(text string) (marked, placed bool, err error) {
	reply, err := r.step(hook.Event{Point: hook.BeforeResponseEmit, Text: text, Audience: hook.ToOwner})
	if err != nil {
		return false, false, err
	}
	args := r.decided.Action.Arguments
	return strings.HasPrefix(reply.Footer, "informed by "), len(args) > 0 && len(args[0].Spans) > 0, nil
}

// approve answers the question for this call and asks about the call again. Calls of one step share
// a question, so it may have been answered already.
func (r *monitorRun) approve(call hook.Call, ticket floodmark.TicketID) error {
	cmd := approval.Command{Verb: approval.Approve, Tool: approval.All, Ticket: ticket, By: "owner", Picked: r.places[ticket]}
	out, err := kernel.Answer(r.state, r.rules, r.input(hook.Event{}), cmd)
	if err != nil {
		return err
	}
	if err := r.apply(out); err != nil {
		return err
	}
	_, err = r.step(hook.Event{Point: hook.BeforeToolCall, Call: call})
	return err
}

// An index finds tokens in the texts of one session. It looks into the cached postings of each
// text, so a new trace begins with an empty index at no cost.
type index struct {
	*monitor
	nodes []indexedNode // oldest first
}

type indexedNode struct {
	kernel.Indexed
	postings provenance.Postings // nil until they are needed
}

func (x *index) add(in kernel.Indexed) {
	at, _ := slices.BinarySearchFunc(x.nodes, in.Node, func(e indexedNode, n floodmark.NodeID) int { return int(e.Node - n) })
	x.nodes = slices.Insert(x.nodes, at, indexedNode{Indexed: in})
}

// Find returns where a token was seen in the nodes from a node on, oldest node first.
func (x *index) Find(h provenance.Hash, from floodmark.NodeID, most int) (spans []floodmark.Span) {
	for i := range x.nodes {
		e := &x.nodes[i]
		if e.postings == nil {
			e.postings = x.indexed(e.Indexed)
		}
		at, _ := slices.BinarySearchFunc(e.postings, h, func(p provenance.Posting, h provenance.Hash) int { return cmp.Compare(p.Hash, h) })
		for ; at < len(e.postings) && e.postings[at].Hash == h && e.Node >= from; at++ {
			spans = append(spans, floodmark.Span{Node: e.Node, Offset: int(e.postings[at].Offset)})
		}
	}
	return spans[:min(len(spans), most)]
}
