// Package whatif judges one call in a made-up session, to explain whether the call would be
// allowed, and why.
package whatif

import (
	"errors"
	"fmt"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/provenance"
	"github.com/floodmark/floodmark/report"
	"github.com/floodmark/floodmark/verify"
)

// A Hypothesis is a made-up session for judging one call. It consists of one source with a label,
// perhaps the owner's words, and then the call.
type Hypothesis struct {
	Agent string
	Call  hook.Call
	// Label is the label of the source. Content is its text.
	Label   floodmark.Label
	Content string
	// Owner is what the owner says before the call, or empty.
	Owner         string
	Project, Home string

	boxes bool // the agent would run the call in a box if the monitor says so
}

// hypothetical is the name of the made-up session.
const hypothetical floodmark.SessionID = "explain"

// decide runs the session through the kernel, and returns the fact with the decision about the
// call.
func (h Hypothesis) decide(rules kernel.Rules) (floodmark.ActionDecided, error) {
	var none floodmark.ActionDecided
	src := floodmark.Source{
		Kind: floodmark.NodeToolResult, Label: h.Label, Digest: floodmark.DigestOf(h.Content),
		Origin: floodmark.Origin{Kind: floodmark.FromHistory, Name: "the content in the context"},
	}
	s, err := kernel.Replay([]floodmark.Fact{
		floodmark.SessionOpened{Agent: h.Agent, Project: h.Project, Home: h.Home},
		floodmark.ContentSeen{Source: src},
	})
	if err != nil {
		return none, err
	}
	p := play{state: s, rules: rules, index: postings.NewMemory()}
	p.index.Add(src.Node, p.key.Postings(h.Content))
	if h.Owner != "" {
		_, err := p.step(hook.Event{
			Point: hook.MessageReceived, Agent: h.Agent, Text: h.Owner, Typed: true,
			Origin: floodmark.Origin{Kind: floodmark.FromSender, Name: "chat", Sender: "owner", IsOwner: true},
		})
		if err != nil {
			return none, err
		}
	}
	facts, err := p.step(hook.Event{Point: hook.BeforeToolCall, Agent: h.Agent, Call: h.Call, Boxes: h.boxes})
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

// A play is the made-up session while it runs.
type play struct {
	state *kernel.State
	rules kernel.Rules
	key   provenance.Key
	index *postings.Memory
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

// An Explanation says whether a call would be allowed, and why. Other programs read its JSON, so
// fields are only added, and never renamed.
type Explanation struct {
	Tool ToolFacts `json:"tool"`
	// Context is the label of the made-up content. Mark is the session's mark after the owner's
	// words. Trust is the trust that the call was judged at.
	Context   floodmark.Label      `json:"context"`
	Owner     string               `json:"owner,omitempty"`
	Mark      floodmark.Label      `json:"mark"`
	Trust     floodmark.Trust      `json:"trust"`
	Arguments []floodmark.Argument `json:"arguments"`
	Verdict   floodmark.Verdict    `json:"verdict"`
	// InBox is set if the call would run in a box instead, provided that the agent can do so.
	InBox bool `json:"inBox,omitempty"`
	// Would is what the verdict would be, if the policy is not enforced.
	Would   string             `json:"would,omitempty"`
	Reasons []floodmark.Reason `json:"reasons"`
	// Spared says why the call is not a question, if it would be one by the mark alone.
	Spared string `json:"spared,omitempty"`
	// Verifiers are the gates that must all agree before the call runs. Unverified is set if there
	// are gates, but none for this call.
	Verifiers  []verify.Told    `json:"verifiers,omitempty"`
	Unverified bool             `json:"unverified,omitempty"`
	Remedy     floodmark.Remedy `json:"remedy"`
	Levels     []LevelRow       `json:"levels"`
	Policy     floodmark.Digest `json:"policyHash"`
	Catalog    floodmark.Digest `json:"catalogHash"`

	// Leaves are the values that Arguments describes.
	Leaves []hook.Leaf `json:"-"`
}

// ToolFacts is what the catalog knows about the call.
type ToolFacts struct {
	floodmark.ToolRef
	Known   bool               `json:"known"`
	About   string             `json:"about,omitempty"`
	Effects []floodmark.Effect `json:"effects"`
	Returns floodmark.Label    `json:"returns"`
	// SelfProtected is set if the call touches the monitor or an agent's hooks.
	SelfProtected bool `json:"selfProtected,omitempty"`
}

// A LevelRow has the verdicts on the call with content of one trust, by secrecy.
type LevelRow struct {
	Trust    floodmark.Trust   `json:"trust"`
	Verdicts map[string]string `json:"verdicts"`
	// InBox are the levels of secrecy at which the call would run in a box instead, if the agent
	// can do so.
	InBox []string `json:"inBox,omitempty"`
}

// Explain judges the call.
func (h Hypothesis) Explain(rules kernel.Rules) (*Explanation, error) {
	d, err := h.decide(rules)
	if err != nil {
		return nil, err
	}
	leaves, err := h.Call.Leaves()
	if err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	tool := newToolFacts(h, rules, d.Action, leaves)
	for _, a := range d.Action.Arguments[len(leaves):] { // the remaining arguments are addresses in a command line
		leaves = append(leaves, hook.Leaf{Path: a.Path, Top: a.Path, Value: a.Shown})
	}
	e := &Explanation{
		Tool: tool, Context: h.Label, Owner: h.Owner,
		Mark: d.Mark, Trust: d.Trust, Arguments: append([]floodmark.Argument{}, d.Action.Arguments...), // a list even if it is empty
		Verdict: d.Decision.Verdict, Would: d.Decision.Would, Reasons: append([]floodmark.Reason{}, d.Decision.Reasons...), Remedy: d.Decision.Remedy, Spared: report.Spared(d),
		Policy: rules.Policy.Hash(), Catalog: rules.Catalog.Hash(), Leaves: leaves,
	}
	for _, name := range d.Decision.Verifiers {
		e.Verifiers = append(e.Verifiers, rules.Gate(h.Agent, name).Tell(kernel.GateTime, rules.Gates != nil && !rules.Gates.Has(name)))
	}
	e.Unverified = len(e.Verifiers) == 0 && len(rules.Gates)+len(rules.Policy.Verifiers(h.Agent)) > 0
	if e.InBox, err = h.inBox(rules); err != nil {
		return nil, err
	}
	e.Levels, err = h.levels(rules)
	return e, err
}

// newToolFacts looks the tool up as the kernel does. It adds the label that the result would have,
// which is not in the decision.
func newToolFacts(h Hypothesis, rules kernel.Rules, a floodmark.Action, leaves []hook.Leaf) ToolFacts {
	at := catalog.Places{Project: h.Project, Home: h.Home}
	use := rules.Catalog.Classify(a.Tool, leaves, nil, at)
	t := ToolFacts{
		ToolRef: a.Tool, Effects: a.Effects, SelfProtected: use.SelfProtected, Returns: rules.Returns(a.Tool.Agent, a.Tool, use, leaves, at),
	}
	if use.Profile != nil {
		t.Known, t.About = true, use.Profile.About()
	}
	return t
}

// levels judges the call with content of every trust and secrecy.
func (h Hypothesis) levels(rules kernel.Rules) ([]LevelRow, error) {
	var rows []LevelRow
	for t := int(floodmark.System); t >= 0; t-- {
		row := LevelRow{Trust: floodmark.Trust(t), Verdicts: map[string]string{}}
		for s := floodmark.Secret; s <= floodmark.Public; s++ {
			h.Label = floodmark.Label{Trust: row.Trust, Secrecy: s}
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

// verdictWord returns the verdict, or what it would be if the policy is not enforced.
func verdictWord(d floodmark.Decision) string {
	if d.Would != "" {
		return d.Would
	}
	return d.Verdict.String()
}

// inBox reports whether the call would run in a box, provided that its agent runs the replaced
// command.
func (h Hypothesis) inBox(rules kernel.Rules) (bool, error) {
	h.boxes = agents.CanRewrite(h.Agent, h.Call)
	d, err := h.decide(rules)
	return d.Decision.Word() == floodmark.Contain && d.Decision.Would == "", err
}
