// Package policy turns rules into rulings. It is a pure function of its
// inputs: the same policy and question give the same ruling on every machine,
// today and in a replay ten years from now. It reads the policy language,
// refuses what it does not understand, and answers Restrict where it cannot
// judge. It sends no question, lifts nothing by grant, and enforces nothing.
//
// Read the files in this order:
//
//	question.go   what is asked; its types are in package condition
//	settings.go   what a policy says besides its rules; quiet.go its quiet hours
//	standing.go   what scheduled jobs may do without asking
//	decide.go     the answer to a tool call
//	flow.go       what must not leave, and after what was read
//	model.go      the answer to a model call
//	speaker.go    the label by who speaks; place.go by where something was read
//	document.go   one file that was read; the language is in package policyfile
//	rule.go       rules; their conditions are in package condition
//	named.go      the tools a policy speaks about
//	load.go       layers; build.go joins them
//	answer.go     what a word of a policy means; grid.go a table of answers
package policy

import (
	"cmp"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/rules/finding"
	"github.com/floodmark/floodmark/policy/policyfile"
	"github.com/floodmark/floodmark/verify"
)

// A Policy is a checked set of rules. It never changes and is safe for use by
// many goroutines. The zero Policy and the nil Policy restrict everything.
type Policy struct {
	hash         floodmark.Digest
	profile      string
	base         *view            // for agents without a section of their own
	agents       map[string]*view // by agent; each at least as strict as base
	places       places
	groups       map[string]floodmark.Trust
	caution      map[toolName]bool
	tools        []*catalog.File
	standing     []Standing
	projectLocal bool
	named        []policyfile.NamedTool
}

// A Layer is one policy file. A project's layer may only tighten.
type Layer struct {
	Name    string // the file's name, for messages
	Project bool
	Data    []byte
}

// Hash identifies exactly what the layers said.
func (p *Policy) Hash() floodmark.Digest {
	if p == nil {
		return floodmark.Digest{}
	}
	return p.hash
}

// Profile returns the name of the shipped profile that the layers change.
func (p *Policy) Profile() string {
	if p == nil {
		return ""
	}
	return p.profile
}

// Findings returns what is asked about findings in a call. The nil table refuses all findings.
func (p *Policy) Findings() *finding.Table {
	if v := p.view(""); v != nil {
		return v.flows.findings
	}
	return nil
}

// Settings returns the settings for one agent. Without a policy, answers are
// enforced and nothing is relaxed.
func (p *Policy) Settings(agent string) Settings {
	if v := p.view(agent); v != nil {
		return v.settings
	}
	return Settings{Enforce: true}
}

// Verifiers returns the gates for one agent. A verifier that is given several times
// has the strictest of its fail modes.
func (p *Policy) Verifiers(agent string) []Verifier {
	v := p.view(agent)
	if v == nil {
		return nil
	}
	var out []Verifier
	for i := range v.verifiers {
		next := v.verifiers[i]
		at := slices.IndexFunc(out, func(o Verifier) bool { return o.Name == next.Name })
		if at < 0 {
			out = append(out, next)
			continue
		}
		out[at].FailMode = min(out[at].FailMode, next.FailMode)
		if out[at].Timeout == 0 {
			out[at].Timeout = next.Timeout
		}
	}
	return out
}

// Caution reports whether the policy calls the tool's results untrusted. An entry can only tighten,
// so a name without a server also matches a tool of any server.
func (p *Policy) Caution(t floodmark.ToolRef) bool {
	if p == nil || len(p.caution) == 0 {
		return false
	}
	return p.caution[toolName{name: t.Name}] || t.Server != "" && (p.caution[toolName{t.Server, t.Name}] || p.caution[toolName{t.Server, "*"}])
}

// Tools returns the user's own catalog.
func (p *Policy) Tools() []*catalog.File {
	if p == nil {
		return nil
	}
	return slices.Clone(p.tools)
}

// Says returns the word of the table for an effect at a trust. Rules, overrides and the sections of
// agents are left out.
func (p *Policy) Says(e floodmark.Effect, t floodmark.Trust) string {
	v := p.view("")
	if v == nil || int(e) >= effects || int(t) >= trusts || v.table[e][t] == nil {
		return floodmark.Restrict.String()
	}
	return v.table[e][t].says.String()
}

// view returns the policy for an agent, or nil if nothing was loaded.
func (p *Policy) view(agent string) *view {
	if p == nil {
		return nil
	}
	return cmp.Or(p.agents[agent], p.agents[floodmark.Program(agent)], p.base)
}

// A view is the policy for one agent.
type view struct {
	settings  Settings
	table     grid // its reasons name the context
	byValue   grid // the same answers, if an argument lowers the trust; its reasons name the argument
	overrides map[toolName]*grid
	bounds    []*bound
	said      []*rule
	rules     ruleIndex // of said
	flows     flows
	verifiers []Verifier
}

// tightened returns the view of an agent with a section of its own.
func (v *view) tightened(s *section) *view {
	out := *v
	out.said = append(slices.Clip(out.said), s.rules...)
	out.bounds = append(slices.Clip(out.bounds), newBound(s))
	out.rules = newRuleIndex(out.said)
	out.verifiers = append(slices.Clip(out.verifiers), s.verifiers...)
	out.settings.MaxIterations = min(out.settings.MaxIterations, cmp.Or(s.maxIterations, out.settings.MaxIterations))
	return &out
}

// gates names the verifiers of a call, each once.
func (v *view) gates(q *Question) []string {
	var names []string
	for i := range v.verifiers {
		s := &v.verifiers[i]
		if (verify.Scope{Include: s.Include, Exclude: s.Exclude}).Concerns(q.Tool, q.Effects) && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}
