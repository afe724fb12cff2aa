package catalog

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// tighten applies a server's claims about its tool, where they make the call look worse.
func (j *judge) tighten(h *hook.Hints) {
	if h == nil {
		return
	}
	harmless := !slices.ContainsFunc(j.use.Effects, func(e floodmark.Effect) bool { return e < floodmark.Fetch })
	if harmless && h.ReadOnly != nil && !*h.ReadOnly {
		if h.Destructive != nil && !*h.Destructive {
			j.add(floodmark.Write)
		} else {
			j.add(floodmark.Change)
		}
	}
	if h.Destructive != nil && *h.Destructive && slices.Min(j.use.Effects) > floodmark.Change {
		j.add(floodmark.Change)
	}
	if h.OpenWorld != nil && *h.OpenWorld {
		j.use.Network = true
		j.use.Returns.Trust = min(j.use.Returns.Trust, floodmark.External)
		if slices.Min(j.use.Effects) == floodmark.Observe {
			j.add(floodmark.Fetch)
		}
	}
	if h.Trust != "" {
		t, _ := floodmark.ParseTrust(h.Trust) // a word we do not know is the lowest
		j.use.Returns.Trust = min(j.use.Returns.Trust, t)
	}
	if h.Secrecy != "" {
		s, _ := floodmark.ParseSecrecy(h.Secrecy)
		j.use.Returns.Secrecy = min(j.use.Returns.Secrecy, s)
	}
	j.retighten()
}

// retighten applies the rules on paths to effects, also to those that hints add.
func (j *judge) retighten() {
	if j.guards&isShared != 0 && j.alters() {
		j.add(floodmark.Send)
	}
	if j.guards&(isInstructs|isHidden) != 0 && j.alters() {
		j.use.PathKind = Instructs
		j.use.Instructs = j.use.Instructs || !slices.Contains(j.use.Effects, floodmark.Admin)
		j.add(floodmark.Admin)
	}
	j.protect()
	j.use.Placed = nil
	if j.alters() && !slices.Contains(j.use.Effects, floodmark.Admin) {
		j.use.Placed = slices.DeleteFunc(j.guards.placed(), func(e floodmark.Effect) bool { return slices.Contains(j.use.Effects, e) })
	}
}

// placed returns the effects of writing to such a path in a session below Local.
func (g guard) placed() []floodmark.Effect {
	switch {
	case g&(isDotted|isLoaded|isMemory|isTyped) != 0:
		return []floodmark.Effect{floodmark.Admin}
	case g&(isOmits|isOutside) != 0:
		return []floodmark.Effect{floodmark.Change}
	}
	return nil
}

// Alike reports whether two catalogs classify every call of a tool the same. It may return false
// for equivalent catalogs, but never true for different ones.
func (c *Catalog) Alike(d *Catalog, t floodmark.ToolRef) bool {
	if c == d || c.hash == d.hash {
		return true
	}
	if c.tables != d.tables {
		return false
	}
	p, _ := c.Lookup(t)
	q, _ := d.Lookup(t)
	return p == q || p != nil && q != nil && !p.written.IsZero() && p.written == q.written
}

// LooksAt reports whether the classification of a call can depend on the value of a top-level
// argument.
func (c *Catalog) LooksAt(t floodmark.ToolRef, top string) bool {
	p, known := c.Lookup(t)
	if !known {
		return true
	}
	if p.place != nil || p.attaches != "" || slices.ContainsFunc(p.cases, func(w when) bool { return w.arg == top }) {
		return true
	}
	a, declared := p.args[top]
	switch {
	case !declared:
		return true // a guarded path could be in it
	case p.command && a.Role != floodmark.Content:
		return true // it may bend the command
	}
	return a.Is == IsPath || a.Is == IsPatch || a.Is == IsURL || a.Is == IsCommand
}

// Possible returns every effect that a call of the tool can have, whatever its arguments, to find
// out beforehand whether the tool can be of any use.
func (c *Catalog) Possible(t floodmark.ToolRef) []floodmark.Effect {
	p, known := c.Lookup(t)
	if !known {
		return c.unknown
	}
	all := slices.Clone(p.effects)
	for _, w := range p.cases {
		all = append(all, w.effects...)
	}
	if p.place != nil {
		all = append(all, floodmark.Write)
	}
	if p.command {
		all = append(all, floodmark.Observe) // a command may only look
	}
	slices.Sort(all)
	return slices.Compact(all)
}
