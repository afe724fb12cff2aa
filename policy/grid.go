package policy

import (
	"fmt"

	"github.com/floodmark/floodmark"
)

// A grid has an answer with its reasons for every effect at every trust. Their texts
// are made when a policy is loaded, so that decisions need not make them.
type grid [effects][trusts]*ruled

// guarded reports whether seed 0's taintPolicy speaks about the effect.
func guarded(e floodmark.Effect) bool { return e != floodmark.Observe && e != floodmark.Fetch }

// A bound holds the answers of a project or of an agent's section, which are joined
// with all other answers. Nil means that it says nothing.
type bound struct {
	levels [trusts]*ruled
	tools  map[toolName]*[trusts]*ruled
}

// reason returns the bound's own answer, or nil.
func (b *bound) reason(t floodmark.ToolRef, guards bool, trust floodmark.Trust) *ruled {
	if len(b.tools) > 0 {
		if row, ok := find(b.tools, t); ok && row[trust] != nil {
			return row[trust]
		}
	}
	if !guards {
		return nil
	}
	return b.levels[trust]
}

// find looks a tool up by its own name, then by its server.
func find[V any](m map[toolName]V, t floodmark.ToolRef) (V, bool) {
	v, ok := m[toolName{t.Server, t.Name}]
	if !ok && t.Server != "" {
		v, ok = m[toolName{t.Server, "*"}]
	}
	return v, ok
}

// newBound makes the bound of a section. A level without an answer gets the answer of
// the next more believed level, or less believed content would be allowed more.
func newBound(s *section) *bound {
	b := &bound{tools: map[toolName]*[trusts]*ruled{}}
	b.levels = boundRow(s.taint, s.where+"taintPolicy", floodmark.TaintEscalation, "")
	for _, o := range s.overrides {
		row := boundRow(o.levels, s.where+"toolOverrides."+o.text, floodmark.ToolOverride, o.text)
		b.tools[o.tool] = &row
	}
	return b
}

func boundRow(ls levels, where string, code floodmark.Code, tool string) [trusts]*ruled {
	var row [trusts]*ruled
	above, said := plainly(floodmark.Allow), false
	for t := trusts - 1; t >= 0; t-- {
		if l := ls[t]; l.node != nil {
			above, said = above.join(l.says), true
		}
		if said {
			trust := floodmark.Trust(t)
			row[t] = newRuled(above, code, where+"."+trust.String(), tool != "", func(v floodmark.Verdict) string { return overrideText(tool, trust, v) })
		}
	}
	return row
}

func overrideText(tool string, t floodmark.Trust, v floodmark.Verdict) string {
	if tool == "" {
		return fmt.Sprintf("the policy says %s while %s", v, inContext(t))
	}
	return fmt.Sprintf("the policy says %s for %s while %s", v, tool, inContext(t))
}

// tableText explains a cell of the table.
func tableText(e floodmark.Effect, t floodmark.Trust, v floodmark.Verdict) string {
	return fmt.Sprintf("%s %s while %s", doing(e), outcome(v), inContext(t))
}

// valueText explains a cell that was reached because of an argument.
func valueText(e floodmark.Effect, t floodmark.Trust, v floodmark.Verdict) string {
	return fmt.Sprintf("%s %s because a value that decides what happens comes from %s", doing(e), outcome(v), from(t))
}

func doing(e floodmark.Effect) string {
	return [...]string{
		floodmark.Admin:   "changing the agent, its instructions or its protection",
		floodmark.Run:     "running code",
		floodmark.Send:    "sending something to others",
		floodmark.Change:  "deleting or changing records",
		floodmark.Write:   "writing a file or note",
		floodmark.Fetch:   "reading over the network",
		floodmark.Observe: "looking something up",
	}[e]
}

func outcome(v floodmark.Verdict) string {
	return [...]string{
		floodmark.Restrict: "is not done",
		floodmark.Confirm:  "needs your yes",
		floodmark.Audit:    "needs a second look",
		floodmark.Allow:    "is fine",
	}[v]
}

func inContext(t floodmark.Trust) string {
	switch t {
	case floodmark.System:
		return "only " + from(t) + " is in the conversation"
	case floodmark.Owner:
		return "only " + from(t) + " are in the conversation"
	default:
		return "the conversation holds " + from(t)
	}
}

func from(t floodmark.Trust) string {
	return [...]string{
		floodmark.Untrusted: "text that anyone could have written (untrusted)",
		floodmark.External:  "text from people outside (external)",
		floodmark.Shared:    "text from other agents or a group (shared)",
		floodmark.Local:     "text from local files or commands (local)",
		floodmark.Owner:     "the owner's own words (owner)",
		floodmark.System:    "what was configured (system)",
	}[t]
}
