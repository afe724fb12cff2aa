package main

import (
	_ "embed"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/policy"
)

// An engine answers calls. build converts a call into the engine's own form. decide answers a
// converted call.
type engine interface {
	name() string
	build(c *call) form
	decide(f form) (floodmark.Verdict, error)
}

// A form is a call in the form of one engine. The fields of the other engines are nil.
type form struct {
	ours  *policy.Question
	cedar *cedarForm
	opa   *opaForm
}

//go:embed policies/floodmark.yaml
var floodmarkPolicy []byte

// engines returns the three contenders, each with its policy loaded.
func engines() ([]engine, error) {
	ours, err := newFloodmark()
	if err != nil {
		return nil, err
	}
	cedar, err := newCedar()
	if err != nil {
		return nil, err
	}
	opa, err := newOPA()
	if err != nil {
		return nil, err
	}
	return []engine{ours, cedar, opa}, nil
}

// ours is Floodmark's policy, which selects the rules of a tool by itself.
type ours struct{ policy *policy.Policy }

func newFloodmark() (*ours, error) {
	p, problems := policy.Load(policy.Layer{Name: "floodmark.yaml", Data: floodmarkPolicy})
	if p == nil {
		return nil, problems
	}
	return &ours{policy: p}, nil
}

func (*ours) name() string { return "floodmark" }

func (*ours) build(c *call) form {
	mark := c.session.Mark()
	return form{ours: &policy.Question{
		Agent: c.agent, Tool: floodmark.ToolRef{Agent: c.agent, Name: c.tool}, Effects: []floodmark.Effect{c.effect},
		Mark: mark, Trust: mark.Trust, Levels: c.session.Levels(),
		Args: c.args, Leaves: c.leaves, Iteration: c.iteration, Turn: c.turn,
		Reach: policy.Reach{URLArg: -1},
	}}
}

func (e *ours) decide(f form) (floodmark.Verdict, error) {
	return e.policy.Decide(f.ours).Verdict, nil
}
