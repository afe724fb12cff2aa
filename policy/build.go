package policy

import (
	"fmt"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/rules/finding"
)

// build joins the layers. Nothing in it can fail: the layers were checked.
func build(name string, shipped, user *document, projects []*document, table *finding.Table) *Policy {
	p := &Policy{
		places: user.places, groups: user.groups, caution: user.caution, tools: user.tools, standing: user.standing,
		projectLocal: shipped.projectLocal,
	}
	settings := Settings{Profile: name}
	shipped.settings(&settings)
	user.settings(&settings)
	for _, d := range projects {
		tighter := settings
		d.settings(&tighter)
		for s := range settings.Choices {
			settings.Choices[s] = min(settings.Choices[s], tighter.Choices[s])
		}
	}
	base := &view{settings: settings, overrides: map[toolName]*grid{}}
	cells := buildTable(shipped, user)
	base.table, base.byValue = gridOf(cells, tableText), gridOf(cells, valueText)
	for i := range user.overrides {
		o := &user.overrides[i]
		base.overrides[o.tool] = user.overrideGrid(o, &base.table)
	}
	rules := append(append([]*rule(nil), shipped.rules...), user.rules...)
	base.verifiers = user.verifiers
	for _, d := range projects {
		base.bounds = append(base.bounds, newBound(&d.section))
		rules = append(rules, prefixed(d.rules, d.where)...)
	}
	base.flows = newFlows(append(shipped.flowsOff, user.flowsOff...), settings, table)
	base.said, base.rules = rules, newRuleIndex(rules)
	p.base, p.agents = base, map[string]*view{}
	for _, agent := range user.agentNames() {
		p.agents[agent] = p.view(agent).tightened(user.agents[agent]) // sorted, so the section of its program comes first
	}
	return p
}

// cell is an answer and where it was said.
type cell struct {
	says  answer
	rule  string
	taint bool // said by the user's taintPolicy
	own   bool // said by the user's table
}

type cells [effects][trusts]cell

// buildTable returns the profile's table with what the user changed, made monotone.
// A taintPolicy can loosen every effect but admin, because in seed 0 it said nothing
// about changes of the agent or its protection.
func buildTable(shipped, user *document) *cells {
	var out cells
	for e := range effects {
		effect := floodmark.Effect(e)
		for t := range trusts {
			c := cell{says: shipped.table[e][t].says, rule: "table." + effect.String() + "." + floodmark.Trust(t).String()}
			taint := user.taint[t]
			if taint.node != nil && guarded(effect) && (effect != floodmark.Admin || taint.says.verdict < c.says.verdict) {
				c.says, c.rule, c.taint = taint.says, "taintPolicy."+floodmark.Trust(t).String(), true
			}
			if own := user.table[e][t]; own.node != nil {
				c.says, c.rule, c.taint, c.own = own.says, "table."+effect.String()+"."+floodmark.Trust(t).String(), false, true
			}
			out[e][t] = c
		}
	}
	lifts := false
	for e := range effects {
		lifts = lift(&out[e]) || lifts
		monotone(&out[e])
		for t := range trusts {
			user.warnCorrected(user.table[e][t], out[e][t].says, floodmark.Trust(t))
		}
	}
	for t := range trusts {
		user.warnCorrected(user.taint[t], user.taint.least(t), floodmark.Trust(t))
		if said := user.taint[t]; said.node != nil && lifts {
			user.reader.Warn(said.node, "lifts-more", fmt.Sprintf("%s for %s content also holds for all content that is believed more, where nothing is said of it", said.says, floodmark.Trust(t)),
				"if that is meant, write it for each level; else write confirm or restrict")
			lifts = false
		}
	}
	return &out
}

// lift handles trust levels of which the user said nothing: it gives them at least what a
// taintPolicy gives to a lower level. In the old form, «external: allow» also allowed higher
// levels, whatever the profile says of them.
func lift(row *[trusts]cell) (lifts bool) {
	best := cell{}
	for t := range row {
		switch c := &row[t]; {
		case c.taint && c.says.verdict > best.says.verdict:
			best = *c
		case !c.taint && !c.own && c.says.verdict < best.says.verdict:
			c.says, c.rule, lifts = best.says, best.rule, true
		}
	}
	return lifts
}

// monotone lowers each answer to the answers for more believed content.
func monotone(row *[trusts]cell) {
	for t := trusts - 2; t >= 0; t-- {
		row[t].says = row[t].says.join(row[t+1].says)
	}
}

// least returns the strictest answer that was given at t or for more believed content.
func (ls *levels) least(t int) answer {
	v := plainly(floodmark.Allow)
	for ; t < trusts; t++ {
		if ls[t].node != nil {
			v = v.join(ls[t].says)
		}
	}
	return v
}

// warnCorrected warns the user if the answer in effect is not the one that they wrote.
func (d *document) warnCorrected(said level, got answer, t floodmark.Trust) {
	if got.inside == floodmark.Restrict {
		got.reach = said.says.reach // nothing is boxed that is refused
	}
	if said.node != nil && got != said.says {
		d.reader.Warn(said.node, "not-monotone",
			fmt.Sprintf("%s content would get more (%s) than more believed content has (%s)", t, said.says, got),
			fmt.Sprintf("it counts as %s; write that, or allow more for the levels above", got))
	}
}

func gridOf(cs *cells, text func(floodmark.Effect, floodmark.Trust, floodmark.Verdict) string) grid {
	var g grid
	for e := range effects {
		for t := range trusts {
			c, effect, trust := cs[e][t], floodmark.Effect(e), floodmark.Trust(t)
			g[e][t] = newRuled(c.says, floodmark.TaintEscalation, c.rule, effect == floodmark.Run, func(v floodmark.Verdict) string { return text(effect, trust, v) })
		}
	}
	return g
}

// overrideGrid returns the table for one tool.
func (d *document) overrideGrid(o *override, table *grid) *grid {
	g := *table
	for e := range effects {
		for t := trusts - 1; t >= 0; t-- {
			trust := floodmark.Trust(t)
			v, code, rule := g[e][t].says, g[e][t].Code, g[e][t].Rule
			if o.levels[t].node != nil {
				v, code, rule = o.levels[t].says, floodmark.ToolOverride, "toolOverrides."+o.text+"."+trust.String()
			}
			if t < trusts-1 && v.join(g[e][t+1].says) != v {
				v, code, rule = v.join(g[e][t+1].says), floodmark.ToolOverride, "toolOverrides."+o.text+"."+trust.String()
			}
			if code == floodmark.ToolOverride {
				g[e][t] = newRuled(v, code, rule, true, func(v floodmark.Verdict) string { return overrideText(o.text, trust, v) })
			}
		}
	}
	for t := range trusts {
		d.warnCorrected(o.levels[t], o.levels.least(t), floodmark.Trust(t))
	}
	return &g
}

// prefixed puts the name of the layer before the names of rules in their reasons.
func prefixed(rules []*rule, where string) []*rule {
	for _, r := range rules {
		for _, reason := range []*floodmark.Reason{&r.Reason, r.inside, r.boxes} {
			if reason != nil {
				reason.Rule = where + reason.Rule
			}
		}
	}
	return rules
}
