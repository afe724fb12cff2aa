package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/provenance"
	"github.com/floodmark/floodmark/verify"
)

// A hypothesis is a session that was made up to judge one call in: one source
// with a label, perhaps the owner's words, then the call.
type hypothesis struct {
	agent          string
	call           hook.Call
	label          floodmark.Label
	owner, content string
	project, home  string
	// boxes says that the agent runs it in a box if told to.
	boxes bool
}

// hypothetical names the made-up session.
const hypothetical floodmark.SessionID = "explain"

// decide plays the session through the kernel and returns what was written
// down about the call.
func (h hypothesis) decide(rules kernel.Rules) (floodmark.ActionDecided, error) {
	var none floodmark.ActionDecided
	src := floodmark.Source{
		Kind: floodmark.NodeToolResult, Label: h.label, Digest: floodmark.DigestOf(h.content),
		Origin: floodmark.Origin{Kind: floodmark.FromHistory, Name: "the content in the context"},
	}
	s, err := kernel.Replay([]floodmark.Fact{
		floodmark.SessionOpened{Agent: h.agent, Project: h.project, Home: h.home},
		floodmark.ContentSeen{Source: src},
	})
	if err != nil {
		return none, err
	}
	p := play{state: s, rules: rules, index: provenance.NewMemoryIndex()}
	p.index.Add(src.Node, p.key.Postings(h.content))
	if h.owner != "" {
		_, err := p.step(hook.Event{
			Point: hook.MessageReceived, Agent: h.agent, Text: h.owner, Typed: true,
			Origin: floodmark.Origin{Kind: floodmark.FromSender, Name: "chat", Sender: "owner", IsOwner: true},
		})
		if err != nil {
			return none, err
		}
	}
	facts, err := p.step(hook.Event{Point: hook.BeforeToolCall, Agent: h.agent, Call: h.call, Boxes: h.boxes})
	if err != nil {
		return none, err
	}
	for _, f := range facts {
		if d, ok := f.(floodmark.ActionDecided); ok {
			return d, nil
		}
	}
	return none, errors.New("the call was not decided")
}

// A play is the made-up session while it is played.
type play struct {
	state *kernel.State
	rules kernel.Rules
	key   provenance.Key
	index *provenance.MemoryIndex
}

func (p *play) step(ev hook.Event) ([]floodmark.Fact, error) {
	ev.Session = hypothetical
	out, err := kernel.Step(p.state, p.rules, kernel.Input{
		Event: ev, At: time.Unix(0, 0).UTC(), Code: "00000000", Ticket: "t1", Key: p.key, Index: p.index,
	})
	if err != nil {
		return nil, err
	}
	for _, f := range out.Facts {
		if err := p.state.Apply(f); err != nil {
			return nil, err
		}
	}
	for _, i := range out.Indexed {
		p.index.Add(i.Node, p.key.Postings(i.Text))
	}
	return out.Facts, nil
}

// An explanation is the answer to «would this call be allowed, and why». Its
// JSON is read by other programs: fields are only added, never renamed.
type explanation struct {
	Tool toolFacts `json:"tool"`
	// Context is the label of the made-up content; Mark what the session's mark
	// is with the owner's words; Trust what the call was judged at.
	Context   floodmark.Label      `json:"context"`
	Owner     string               `json:"owner,omitempty"`
	Mark      floodmark.Label      `json:"mark"`
	Trust     floodmark.Trust      `json:"trust"`
	Arguments []floodmark.Argument `json:"arguments"`
	Verdict   floodmark.Verdict    `json:"verdict"`
	// InBox says that it runs in a box instead, if the agent was seen to do so.
	InBox bool `json:"inBox,omitempty"`
	// Would is the verdict of a policy that only watches.
	Would   string             `json:"would,omitempty"`
	Reasons []floodmark.Reason `json:"reasons"`
	// Spared says why it is no question, though the mark alone would make it one.
	Spared string `json:"spared,omitempty"`
	// Verifiers must all agree before it runs; Unverified: there are some, for other calls.
	Verifiers  []verify.Told    `json:"verifiers,omitempty"`
	Unverified bool             `json:"unverified,omitempty"`
	Remedy     floodmark.Remedy `json:"remedy"`
	Levels     []levelRow       `json:"levels"`
	Policy     floodmark.Digest `json:"policyHash"`
	Catalog    floodmark.Digest `json:"catalogHash"`

	leaves []hook.Leaf
	known  known
}

// toolFacts is what the catalog knows about the call.
type toolFacts struct {
	floodmark.ToolRef
	Known   bool               `json:"known"`
	About   string             `json:"about,omitempty"`
	Effects []floodmark.Effect `json:"effects"`
	Returns floodmark.Label    `json:"returns"`
	// SelfProtected says that the call touches the monitor or an agent's hooks.
	SelfProtected bool `json:"selfProtected,omitempty"`
}

// A levelRow is what the call would be with content of one trust, by secrecy.
type levelRow struct {
	Trust    floodmark.Trust   `json:"trust"`
	Verdicts map[string]string `json:"verdicts"`
	// InBox are the levels of secrecy at which it runs in a box instead, if the agent can.
	InBox []string `json:"inBox,omitempty"`
}

func newExplanation(h hypothesis, rules kernel.Rules) (*explanation, error) {
	d, err := h.decide(rules)
	if err != nil {
		return nil, err
	}
	leaves, err := h.call.Leaves()
	if err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	tool := newToolFacts(h, rules, d.Action, leaves)
	for _, a := range d.Action.Arguments[len(leaves):] { // addresses in a command line
		leaves = append(leaves, hook.Leaf{Path: a.Path, Top: a.Path, Value: a.Shown})
	}
	e := &explanation{
		Tool: tool, Context: h.label, Owner: h.owner,
		Mark: d.Mark, Trust: d.Trust, Arguments: append([]floodmark.Argument{}, d.Action.Arguments...), // programs want a list
		Verdict: d.Decision.Verdict, Would: d.Decision.Would, Reasons: append([]floodmark.Reason{}, d.Decision.Reasons...), Remedy: d.Decision.Remedy, Spared: kernel.Spared(d),
		Policy: rules.Policy.Hash(), Catalog: rules.Catalog.Hash(), leaves: leaves, known: knownTo(rules.Catalog),
	}
	for _, name := range d.Decision.Verifiers {
		e.Verifiers = append(e.Verifiers, rules.Gate(h.agent, name).Tell(kernel.GateTime, rules.Gates != nil && !rules.Gates.Has(name)))
	}
	e.Unverified = len(e.Verifiers) == 0 && len(rules.Gates)+len(rules.Policy.Verifiers(h.agent)) > 0
	if e.InBox, err = h.inBox(rules); err != nil {
		return nil, err
	}
	e.Levels, err = h.levels(rules)
	return e, err
}

// newToolFacts looks the tool up as the kernel does. What the result would
// bring is only told here: the kernel writes it down when a call may run.
func newToolFacts(h hypothesis, rules kernel.Rules, a floodmark.Action, leaves []hook.Leaf) toolFacts {
	at := catalog.Places{Project: h.project, Home: h.home}
	use := rules.Catalog.Classify(a.Tool, leaves, nil, at)
	t := toolFacts{
		ToolRef: a.Tool, Effects: a.Effects, SelfProtected: use.SelfProtected, Returns: rules.Returns(a.Tool.Agent, a.Tool, use, leaves, at),
	}
	if use.Profile != nil {
		t.Known, t.About = true, use.Profile.About()
	}
	return t
}

// levels asks the kernel the same question at every level.
func (h hypothesis) levels(rules kernel.Rules) ([]levelRow, error) {
	var rows []levelRow
	for t := int(floodmark.System); t >= 0; t-- {
		row := levelRow{Trust: floodmark.Trust(t), Verdicts: map[string]string{}}
		for s := floodmark.Secret; s <= floodmark.Public; s++ {
			h.label = floodmark.Label{Trust: row.Trust, Secrecy: s}
			d, err := h.decide(rules)
			if err != nil {
				return nil, err
			}
			row.Verdicts[s.String()] = verdictWord(d.Decision)
			if in, err := h.inBox(rules); err != nil {
				return nil, err
			} else if in {
				row.InBox = append(row.InBox, s.String())
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// verdictWord is the verdict that counts: in a dry run, what it would be.
func verdictWord(d floodmark.Decision) string {
	if d.Would != "" {
		return d.Would
	}
	return d.Verdict.String()
}

// inBox reports whether the call would run in a box, if its agent runs what it is given.
func (h hypothesis) inBox(rules kernel.Rules) (bool, error) {
	h.boxes = agents.CanRewrite(h.agent, h.call)
	d, err := h.decide(rules)
	return d.Decision.Word() == floodmark.Contain && d.Decision.Would == "", err
}
