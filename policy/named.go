package policy

import (
	"slices"

	"github.com/floodmark/floodmark/policy/policyfile"
)

// NamedTools returns the tools the layers speak about, in their order.
func (p *Policy) NamedTools() []policyfile.NamedTool {
	if p == nil {
		return nil
	}
	return slices.Clone(p.named)
}
