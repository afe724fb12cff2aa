package catalog

import (
	"slices"

	"github.com/floodmark/floodmark"
)

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
