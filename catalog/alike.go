package catalog

import (
	"slices"

	"github.com/floodmark/floodmark"
)

// Alike reports whether two catalogs say the same of every call of a tool. It
// may say no of catalogs that say the same in other words, never the opposite.
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

// LooksAt reports whether what a call of the tool is can depend on the value of
// a top-level argument.
func (c *Catalog) LooksAt(t floodmark.ToolRef, top string) bool {
	p, known := c.Lookup(t)
	if !known {
		return true
	}
	if slices.ContainsFunc(p.cases, func(w when) bool { return w.arg == top }) {
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

// Possible returns every effect some choice of arguments could have, for those
// who must know beforehand whether a tool can be of any use. Of an unknown
// tool nothing better than running is hoped for.
func (c *Catalog) Possible(t floodmark.ToolRef) []floodmark.Effect {
	p, known := c.Lookup(t)
	if !known {
		return c.unknown
	}
	all := slices.Clone(p.effects)
	for _, w := range p.cases {
		all = append(all, w.effects...)
	}
	if p.command {
		all = append(all, floodmark.Observe) // a command may only look
	}
	slices.Sort(all)
	return slices.Compact(all)
}
