package protection

import "github.com/floodmark/floodmark/hook"

// A Decider is a policy that is measured. It must be safe for use by several goroutines, each with
// its own [Run].
type Decider interface {
	// Name is the policy's name in the result.
	Name() string
	// Begin starts a trace. The user has sent the only message.
	Begin(t *Trace) (Run, error)
}

// A Run is one trace under one policy. For each step of the recording the methods are called in
// this order: Propose, then Ask for each call, then Feed for each result that the agent would have
// seen.
type Run interface {
	// Propose passes the model's answer to the policy.
	Propose(s *Step) error
	// Ask reports whether a person would be asked about c, c would be refused, or its tool would be
	// hidden.
	Ask(c *Call) (bool, error)
	// Feed passes the result of c to the policy. If c was asked about, the person said yes.
	Feed(c *Call, asked bool) error
}

// An Explainer is a [Run] that can say why it last asked.
type Explainer interface {
	// Why explains in one line, in the policy's words and without recorded text.
	Why() string
}

// An Answerer is a [Run] that also sees the answer to the user, after all steps.
type Answerer interface {
	// Answer reports whether the answer is marked as based on content of others, and whether the
	// mark says which words come from where.
	Answer(text string) (marked, placed bool, err error)
}

// None returns the policy that never asks: what happens without a monitor.
func None() Decider { return none{} }

type none struct{}

func (none) Name() string              { return "none" }
func (none) Begin(*Trace) (Run, error) { return none{}, nil }
func (none) Propose(*Step) error       { return nil }
func (none) Ask(*Call) (bool, error)   { return false, nil }
func (none) Feed(*Call, bool) error    { return nil }

// HighWater returns policy A: after a result with third-party text, it asks about every call with
// an effect. Reading a page is not asked about.
func HighWater(d *Data) Decider { return &highWater{data: d} }

type highWater struct{ data *Data }

func (h *highWater) Name() string { return "A" }

func (h *highWater) Begin(t *Trace) (Run, error) {
	return &highWaterRun{cards: h.data.Cards, suite: t.Suite}, nil
}

type highWaterRun struct {
	cards   Cards
	suite   string
	tainted bool
}

func (r *highWaterRun) Propose(*Step) error { return nil }

func (r *highWaterRun) Ask(c *Call) (bool, error) {
	card := r.cards.Card(r.suite, c.Tool)
	return r.tainted && card.Sink && card.Effect != "web_get", nil
}

func (r *highWaterRun) Feed(c *Call, _ bool) error {
	if r.cards.Card(r.suite, c.Tool).foreign(c.Result.Body) {
		r.tainted = true
	}
	return nil
}

// foreign reports whether a result may contain text that a third party wrote.
func (c Card) foreign(result string) bool {
	return c.Results == Foreign || c.Results == Identifier && !identifiers(result)
}

// critical reports whether an argument in this role decides where the effect lands. The roles are
// from the published definition of policy B.
func critical(role string) bool {
	switch role {
	case "dest", "target", "secret", "ident", "amount", "when", "name", "url":
		return true
	}
	return false
}

// criticalLeaves returns the values of c that decide where its effect lands. Arguments that cannot
// be parsed are returned as one value.
func (c *Call) criticalLeaves(card Card) []hook.Leaf {
	leaves, err := hook.Call{Args: c.Args}.Leaves()
	if err != nil {
		return []hook.Leaf{{Value: string(c.Args)}}
	}
	kept := leaves[:0]
	for _, l := range leaves {
		if critical(card.Roles[l.Top]) && l.Kind != hook.Bool && l.Kind != hook.Null {
			kept = append(kept, l)
		}
	}
	return kept
}
