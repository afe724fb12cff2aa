package main

import (
	_ "embed"
	"fmt"

	"github.com/cedar-policy/cedar-go"
	"github.com/floodmark/floodmark"
)

//go:embed policies/policy.cedar
var cedarPolicy []byte

// cedarEngine has a policy set for each tool. Cedar only knows permit and forbid. Its diagnostics
// name the forbid policies that applied, and the answer is the lowest of their verdicts.
type cedarEngine struct {
	sets     map[string]*cedar.PolicySet
	verdicts map[cedar.PolicyID]floodmark.Verdict
	entities cedar.EntityMap
}

// A cedarForm is a request with the policy set that answers it.
type cedarForm struct {
	set     *cedar.PolicySet
	request cedar.Request
}

func newCedar() (*cedarEngine, error) {
	list, err := cedar.NewPolicyListFromBytes("policy.cedar", cedarPolicy)
	if err != nil {
		return nil, fmt.Errorf("read policy.cedar: %w", err)
	}
	e := &cedarEngine{sets: map[string]*cedar.PolicySet{}, verdicts: map[cedar.PolicyID]floodmark.Verdict{}, entities: cedar.EntityMap{}}
	for _, p := range list {
		notes := p.Annotations()
		tool := string(notes["tool"])
		if e.sets[tool] == nil {
			e.sets[tool] = cedar.NewPolicySet()
		}
		id := cedar.PolicyID(tool + "-" + string(notes["name"]))
		if e.verdicts[id], err = floodmark.ParseVerdict(string(notes["verdict"])); err != nil {
			return nil, fmt.Errorf("policy %s: %w", id, err)
		}
		e.sets[tool].Add(id, p)
	}
	return e, nil
}

func (*cedarEngine) name() string { return "cedar-go" }

func (e *cedarEngine) build(c *call) form {
	args, arg := cedar.RecordMap{}, cedar.RecordMap{}
	for i, l := range c.leaves {
		a := c.args[i]
		args[cedar.String(l.Path)] = cedar.String(l.Value)
		arg[cedar.String(l.Path)] = cedar.NewRecord(cedar.RecordMap{
			"stated": cedar.Boolean(a.Whence == floodmark.Stated), "seen": cedar.Boolean(a.Whence == floodmark.Seen), "trust": cedar.Long(a.Trust),
		})
	}
	mark, has := c.session.Mark(), c.session.Levels()
	var levels []cedar.Value
	for t := floodmark.Untrusted; t <= floodmark.System; t++ {
		if has.Has(t) {
			levels = append(levels, cedar.Long(t))
		}
	}
	return form{cedar: &cedarForm{
		set: e.sets[c.tool],
		request: cedar.Request{
			Principal: cedar.NewEntityUID("Agent", cedar.String(c.agent)),
			Action:    cedar.NewEntityUID("Action", cedar.String(c.tool)),
			Resource:  cedar.NewEntityUID("Session", "s"),
			Context: cedar.NewRecord(cedar.RecordMap{
				"agent": cedar.String(c.agent), "iteration": cedar.Long(c.iteration), "turn": cedar.Long(c.turn),
				"mark":   cedar.NewRecord(cedar.RecordMap{"trust": cedar.Long(mark.Trust), "secrecy": cedar.Long(mark.Secrecy)}),
				"levels": cedar.NewSet(levels...), "args": cedar.NewRecord(args), "arg": cedar.NewRecord(arg),
			}),
		},
	}}
}

func (e *cedarEngine) decide(f form) (floodmark.Verdict, error) {
	ask := f.cedar
	decision, why := cedar.Authorize(ask.set, e.entities, ask.request)
	if len(why.Errors) > 0 {
		return floodmark.Restrict, fmt.Errorf("cedar: %s", why.Errors[0].Message)
	}
	if decision == cedar.Allow {
		return floodmark.Allow, nil
	}
	verdict := floodmark.Allow
	for _, r := range why.Reasons {
		verdict = min(verdict, e.verdicts[r.PolicyID])
	}
	return verdict, nil
}
